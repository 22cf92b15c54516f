package client

import (
	"slices"
	"time"
)

// A Node is a node in Slurm.
type Node struct {
	Name       string
	State      string   // IDLE, MIXED, ALLOCATED, DOWN, UNKNOWN, ERROR, FUTURE
	Flags      []string // such as DRAIN, RESERVED, NOT_RESPONDING
	Reason     string
	Partitions []string
	GPUs, Used GPUs
	CPUs       int
	UsedCPUs   int
	Memory     int64 // bytes
	UsedMemory int64 // bytes, allocated to jobs
}

var unusable = []string{
	"DOWN", "UNKNOWN", "ERROR", "FUTURE", "FAIL", "FAILING", "DRAIN", "DRAINED", "DRAINING", "NOT_RESPONDING",
	"MAINTENANCE", "REBOOT_REQUESTED", "REBOOT_ISSUED", "POWERED_DOWN", "POWERING_DOWN", "INVALID_REG", "PLANNED_DOWN",
}

// Usable reports whether Slurm may start jobs on the node. Nodes that are reserved or planned count as usable.
func (n *Node) Usable() bool {
	if slices.Contains(unusable, n.State) {
		return false
	}
	return !slices.ContainsFunc(n.Flags, func(f string) bool { return slices.Contains(unusable, f) })
}

// A Partition is a queue.
type Partition struct {
	Name string
	QOS  string // limits all jobs of the partition; empty: none
}

// A Reservation reserves nodes for some users, or for maintenance.
type Reservation struct {
	Name       string
	Start, End time.Time
	Nodes      []string
	Users      []string
	Accounts   []string
	Flags      []string
	State      string // ACTIVE or INACTIVE
}

// Active reports whether a reservation is in force.
func (r *Reservation) Active() bool { return r.State == "ACTIVE" }

// QOS is a quality of service: its limits.
type QOS struct {
	Name           string
	GPUs           GPUs
	GPUsPerUser    GPUs
	GPUsPerAccount GPUs
	GPUsPerJob     GPUs
	JobsPerUser    int // limit of a user's running jobs; 0: none
}
