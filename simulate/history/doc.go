// Package history prepares a cluster's job history for simulation, and checks how well a baseline policy reproduces
// it. The commands simulate and whatif share this check.
package history
