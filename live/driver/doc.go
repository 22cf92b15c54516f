// Package driver runs the scheduler with a live backend: one machine, Kubernetes or Slurm.
//
// A new backend consists of:
//
//   - a type that implements Backend (most of it by embedding a Table);
//   - a command that calls New, opens the Backend, and calls Driver.Attach and Driver.Run;
//   - an interface for users, on top of Driver.Story, Driver.Look and Driver.Trouble.
//
// The toy backend in this package's tests is the shortest example.
package driver
