// Package history prepares what a cluster did with its jobs for simulation, and judges how well the policy that stands for
// the cluster's own scheduler reproduces it. The commands simulate and whatif use the same judgement.
package history
