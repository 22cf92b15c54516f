package sia

import (
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
)

// pin says which jobs get what they have, or what they reserved, whatever it
// is worth: while there is room, non-preemptive ones first, then reservations,
// then those that start or restore. Nodes that failed may leave less room than
// was promised. Source: Sia §3.3.4, "Preemption and reservation".
func (p *Policy) pin(rows []*row) {
	free := make([]int, len(p.cluster.Types()))
	for k, t := range p.cluster.Types() {
		free[k] = t.GPUs
	}
	for _, r := range rows {
		r.pin = cluster.Configuration{}
	}
	for _, wants := range []func(*row) cluster.Configuration{nonPreemptive, reserved, restoring} {
		for _, r := range rows {
			if c := wants(r); !c.IsZero() && r.pin.IsZero() {
				p.pinTo(r, c, free)
			}
		}
	}
}

// pinTo pins a job to a configuration if there is room for it.
func (p *Policy) pinTo(r *row, c cluster.Configuration, free []int) {
	k := p.resource(c.GPUType)
	if k < 0 || free[k] < c.GPUs {
		return
	}
	if c != r.job.Allocation.Configuration && !p.carries(k, c) {
		return
	}
	free[k] -= c.GPUs
	r.pin = c
}

// carries reports whether nodes of the GPU type k, all idle, could hold c.
func (p *Policy) carries(k int, c cluster.Configuration) bool {
	t := &p.cluster.Types()[k]
	return c.Nodes <= t.Nodes && c.GPUs <= min(c.Nodes*t.PerNode, t.GPUs)
}

func nonPreemptive(r *row) cluster.Configuration {
	if r.job.NonPreemptive && r.job.Holding() {
		return r.job.Allocation.Configuration
	}
	return cluster.Configuration{}
}

func reserved(r *row) cluster.Configuration {
	if r.job.Phase == job.Profiling {
		return cluster.Configuration{}
	}
	return r.job.Reservation
}

func restoring(r *row) cluster.Configuration {
	if r.job.Phase == job.Restoring && r.job.Reservation.IsZero() {
		return r.job.Allocation.Configuration
	}
	return cluster.Configuration{}
}

// resource returns the index of a GPU type, -1 if the cluster has none.
func (p *Policy) resource(t cluster.GPUType) int {
	return slices.IndexFunc(p.cluster.Types(), func(info cluster.TypeInfo) bool { return info.Type == t })
}
