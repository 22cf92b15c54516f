// Package observe turns the objects of one queue into an immutable Observation, and verifies that the watches
// show what the API server has.
package observe
