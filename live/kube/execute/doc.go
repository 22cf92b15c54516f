// Package execute derives the next steps from an observation, the committed plan and the states of jobs, and
// carries them out. A GPU is released before another job acquires it.
package execute
