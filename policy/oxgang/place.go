package oxgang

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// longest is for how many rounds at most an allocation that had no placement is not granted
// again.
const longest = 8

// placed notes whether what the last plan granted to a job that held nothing had a placement:
// GPUs may be free in number, and yet on nodes that jobs without checkpoints do not leave. What
// had none is not granted again for 1, 2, 4 and then 8 rounds, so that others have these GPUs.
// Where nobody holds GPUs of the type, that was not why.
func (st *state) placed(s *policy.Snapshot, j *policy.Job) {
	switch {
	case j.Holding():
		st.refused, st.refusals, st.until = cluster.Configuration{}, 0, 0
	case !st.granted.IsZero() && holds(s, st.granted.GPUType):
		st.refused, st.until = st.granted, s.Round+min(longest, 1<<st.refusals)
		st.refusals++
	}
}

// holds reports whether a job holds GPUs of a type.
func holds(s *policy.Snapshot, t cluster.GPUType) bool {
	return slices.ContainsFunc(s.Jobs, func(j *policy.Job) bool { return j.Allocation.GPUs > 0 && j.Allocation.Has(t) })
}

// paused returns what is not granted again in a round because it has just had no placement.
func (st *state) paused(round int) []cluster.Configuration {
	if round >= st.until {
		return nil
	}
	return []cluster.Configuration{st.refused}
}

// note notes what a plan grants to jobs that hold nothing, and tells those of them why they wait
// that are paused.
func (p *Policy) note(s *policy.Snapshot, plan *policy.Plan) {
	for i, st := range p.active {
		d := &plan.Jobs[i]
		if of := d.Allocation.GPUType; of != "" {
			st.basis.owner = cmp.Or(p.trusting(of), p.unpriced(s, of))
		}
		if st.granted = (cluster.Configuration{}); !s.Jobs[i].Holding() {
			st.granted = d.Allocation.Configuration
		}
		if d.Why.Kind == policy.Impossible && len(st.paused(s.Round)) > 0 {
			d.Why = policy.Reason{Kind: policy.Evicted, Config: st.refused}
		}
	}
}
