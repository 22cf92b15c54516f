package oxgang

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

const longest = 8

// placed records whether the last grant to a job that held nothing got a placement. GPUs may be free in number, yet
// on nodes that jobs without checkpoints do not leave. A grant without placement is paused for 1, 2, 4 and then 8
// rounds, so that others can use these GPUs. If no job holds GPUs of the type, the cause was a different one.
func (st *state) placed(s *policy.Snapshot, j *policy.Job) {
	switch {
	case j.Holding():
		st.refused, st.refusals, st.until = cluster.Configuration{}, 0, 0
	case !st.granted.IsZero() && holds(s, st.granted.GPUType):
		st.refused, st.until = st.granted, s.Round+min(longest, 1<<st.refusals)
		st.refusals++
	}
}

func holds(s *policy.Snapshot, t cluster.GPUType) bool {
	return slices.ContainsFunc(s.Jobs, func(j *policy.Job) bool { return j.Allocation.GPUs > 0 && j.Allocation.Has(t) })
}

func (st *state) paused(round int) []cluster.Configuration {
	if round >= st.until {
		return nil
	}
	return []cluster.Configuration{st.refused}
}

func (p *Policy) note(s *policy.Snapshot, plan *policy.Plan) {
	for i, st := range p.active {
		d := &plan.Jobs[i]
		if of := d.Allocation.GPUType; of != "" {
			st.basis.owner = cmp.Or(p.owners.trusting(of, p.lent[of]), p.unpriced(s, of))
		}
		if st.granted = (cluster.Configuration{}); !s.Jobs[i].Holding() {
			st.granted = d.Allocation.Configuration
		}
		if d.Why.Kind == policy.Impossible && len(st.paused(s.Round)) > 0 {
			d.Why = policy.Reason{Kind: policy.Evicted, Config: st.refused}
		}
	}
}
