package pop

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// A claim is what a job has, or is to get whatever others do.
type claim struct {
	cluster.Configuration
	turn int // in which claims are honoured
}

// The turns of claims: a non-preemptive job's is firmer than a reservation, which
// is firmer than what any other job holds.
const (
	pinned = iota
	reserved
	held
	turns
)

// firm reports whether the claim has to be honoured if that is possible.
func (c claim) firm() bool { return c.turn != held }

func claimOf(j *policy.Job) claim {
	switch {
	case j.NonPreemptive && j.Holding():
		return claim{j.Allocation.Configuration, pinned}
	case !j.Reservation.IsZero() && j.Phase != job.Profiling:
		return claim{j.Reservation, reserved}
	}
	return claim{j.Allocation.Configuration, held}
}

// roomFor reports whether a part has room for what a job claims beside what
// others do, and could meet its least demand.
func (p *parts) roomFor(r *room, j *policy.Job, c claim) bool {
	if c.IsZero() {
		return p.meets(r, j)
	}
	t := p.typeIndex(c.GPUType)
	if t < 0 || r.held[t]+c.GPUs > r.gpus[t] {
		return false
	}
	holds := j.Holding() && c.Configuration == j.Allocation.Configuration
	if !holds && (c.Nodes > r.nodes[t] || c.GPUs > c.Nodes*r.perNode[t]) {
		return false
	}
	return c.firm() || p.meets(r, j)
}

// meets reports whether a part, all idle, has the fewest GPUs that a job runs on,
// of any type it may have.
func (p *parts) meets(r *room, j *policy.Job) bool {
	for t := range p.types {
		gpu := p.types[t].Type
		if !j.Eligible(gpu) || !j.KeepsType(gpu) {
			continue
		}
		need := max(1, j.GPUs)
		if j.Adaptivity.Has(job.GPUCount) {
			need = j.Min(gpu)
		}
		if r.gpus[t] >= need {
			return true
		}
	}
	return false
}
