// Package wire has the formats that the scheduler shares with the command line: the ConfigMap in which a user asks a question,
// and compressed lists. It imports nothing of Kubernetes, so that the command line stays small.
package wire
