// Package view says what a Slurm does now: what runs, who waits and why, which GPUs are idle and
// why. It asks with the rights of an ordinary account and writes nothing.
//
// A Look has what Slurm said at one moment. StatusOf draws conclusions from it alone: it reads no
// clock and asks nothing.
package view
