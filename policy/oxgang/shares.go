package oxgang

import (
	"slices"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// Tenants of Options.Guarantee.
const (
	NoGuarantee    = "none"
	UserGuarantee  = "user"  // shares by weight, where an administrator sets the weights
	EqualGuarantee = "equal" // equal shares, where users set the weights of their jobs
)

// guarantee gives each tenant with active jobs its share of every GPU type: its weight over the weights of all of
// them. A tenant's weight is the largest weight of its jobs, or 1 under EqualGuarantee. A job that awaits rented nodes has no claim to a share.
func (p *Policy) guarantee(rows []*goodput.Row) {
	of := make(map[string]*goodput.Tenant)
	for _, r := range rows {
		r.Tenant = nil
		if p.shared() {
			if name := r.Job().User; of[name] == nil {
				of[name] = &goodput.Tenant{}
			}
			t := of[r.Job().User]
			t.Part = max(t.Part, p.weight(r.Job()))
		}
	}
	if len(of) < 2 {
		return
	}
	weights := make([]float64, 0, len(of))
	for _, t := range of {
		weights = append(weights, t.Part)
	}
	slices.Sort(weights) // a sum must not depend on the order of a map
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for _, t := range of {
		t.Part /= sum
	}
	for i, r := range rows {
		if !p.active[i].expects {
			r.Tenant = of[r.Job().User]
		}
	}
}

func (p *Policy) weight(j *policy.Job) float64 {
	if p.o.Guarantee == EqualGuarantee {
		return 1
	}
	return share(j)
}

func (p *Policy) shared() bool {
	return p.o.Guarantee != NoGuarantee && !p.ignored.leaves(policy.TermShare)
}

func (p *Policy) severalTenants(jobs []*policy.Job) bool {
	return p.shared() && slices.ContainsFunc(jobs, func(j *policy.Job) bool { return j.User != jobs[0].User })
}
