// Package observe turns the objects of one queue into an immutable Observation, and verifies the watches.
package observe
