package explain

import (
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// A Because says why a job has what a plan gives it.
type Because struct {
	Reason string // name of the policy's reason
	Text   string // a clause that says why and, if anything would change it, what
}

// Now returns, for each job of a snapshot, why the plan gives it what it does. Complexity: linear
// in the number of jobs, but for sorting those that wait.
func Now(s *policy.Snapshot, p *policy.Plan) map[job.ID]Because {
	w := clusterState{cluster: s.Cluster, rentals: s.Rentals, prices: p.Prices, refused: p.Refused, jobs: make(map[job.ID]*row, len(s.Jobs))}
	for i, j := range s.Jobs {
		w.jobs[j.ID] = &row{spec: j.Spec, holds: p.Jobs[i].Allocation, on: p.Jobs[i].Placement, why: p.Jobs[i].Why, ruled: true}
	}
	w.gains = newGains()
	for i, j := range s.Jobs {
		if len(j.Placement)+len(p.Jobs[i].Placement) > 0 {
			w.gains.add(j.ID, more(p.Jobs[i].Placement, j.Placement))
		}
	}
	view, order := w.view(), w.order()
	all := make(map[job.ID]Because, len(s.Jobs))
	for _, j := range s.Jobs {
		r := w.jobs[j.ID]
		here := explainContext{spec: r.spec, why: r.why, holds: r.holds.Configuration, view: view, refused: p.Refused, moved: w.gave(j.ID)}
		order.others(&here)
		all[j.ID] = Because{Reason: r.why.Kind.String(), Text: here.because() + w.went(j.ID)}
	}
	return all
}
