// Package config holds the options of the Kubernetes backend: the queue, its timeouts, and the
// functions that it calls.
package config
