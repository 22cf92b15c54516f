// Package config holds the options of the Kubernetes backend.
package config
