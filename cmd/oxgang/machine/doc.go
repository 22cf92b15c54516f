// Package machine has the commands of oxgang for the scheduler on one machine.
package machine
