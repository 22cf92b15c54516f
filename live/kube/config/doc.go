// Package config holds the options of the Kubernetes world: the queue, its timeouts, and whom it asks.
package config
