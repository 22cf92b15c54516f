// Package history prepares a cluster's job history for simulation, and checks how well a baseline policy reproduces
// it. A Question asks how long the jobs would wait under other policies, or with fewer GPUs.
package history
