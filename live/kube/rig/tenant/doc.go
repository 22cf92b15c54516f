// Package tenant draws sequences of requests that a user with the ClusterRole edit in one namespace can send, and
// evaluates the chart's admission policies for them without an API server.
package tenant
