// Package wire has the formats shared by the scheduler and the command line. It imports no Kubernetes libraries,
// to keep the command line small.
package wire
