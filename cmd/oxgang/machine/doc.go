// Package machine has the commands for the scheduler of one machine.
package machine
