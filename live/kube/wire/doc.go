// Package wire has the formats shared by the scheduler and the command line: questions in a ConfigMap, and compressed
// lists. It imports no Kubernetes libraries, to keep the command line small.
package wire
