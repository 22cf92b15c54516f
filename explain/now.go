package explain

import (
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// A Because is why a job has what a plan gives it.
type Because struct {
	Reason string // the policy's, by its name
	Text   string // a clause, with what would change it if anything would
}

// Now returns why each job of a snapshot has what a plan for it says. Complexity: linear in
// the jobs, but for those that wait for a price, which are compared with each other.
func Now(s *policy.Snapshot, p *policy.Plan) map[job.ID]Because {
	w := clusterState{cluster: s.Cluster, rentals: s.Rentals, prices: p.Prices, refused: p.Refused, jobs: make(map[job.ID]*row, len(s.Jobs))}
	for i, j := range s.Jobs {
		w.jobs[j.ID] = &row{spec: j.Spec, holds: p.Jobs[i].Allocation, on: p.Jobs[i].Placement, why: p.Jobs[i].Why}
	}
	view := w.view()
	all := make(map[job.ID]Because, len(s.Jobs))
	for _, j := range s.Jobs {
		r := w.jobs[j.ID]
		here := explainContext{spec: r.spec, why: r.why, holds: r.holds.Configuration, view: view, refused: p.Refused}
		if r.why.Kind == policy.WaitPrice {
			here.rivals = w.rivals(r.why)
		}
		all[j.ID] = Because{Reason: r.why.Kind.String(), Text: here.because()}
	}
	return all
}
