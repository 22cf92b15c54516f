package explain

import (
	"iter"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Because says why a job has what a plan gives it.
type Because struct {
	Reason string // name of the policy's reason
	Text   string // a clause that says why and, if anything would change it, what
}

// Reasons say why jobs have what a plan gives them. What a reason needs is found out when the first one is asked for, and each
// is put into words when it is: a round whose reasons nobody reads pays nothing for them. Reasons are not safe for concurrent use.
type Reasons struct {
	s     *policy.Snapshot
	p     *policy.Plan
	at    map[job.ID]int // in s and p; nil: nothing was asked yet
	state *clusterState  // nil: no text was asked for yet
	view  View
	order *waitingOrder
}

// Now returns why jobs of a snapshot have what the plan gives them; of none if s is nil. Neither must change as long as reasons are asked
// for.
func Now(s *policy.Snapshot, p *policy.Plan) *Reasons { return &Reasons{s: s, p: p} }

// Of returns why a job has what it has; nothing if the snapshot does not have it. Complexity: the first time linear in the
// number of jobs, but for sorting those that wait; then constant.
func (r *Reasons) Of(id job.ID) Because { return Because{r.Reason(id), r.Text(id)} }

// Reason returns the name of the policy's reason; empty if the snapshot does not have the job.
func (r *Reasons) Reason(id job.ID) string {
	if i, ok := r.index(id); ok {
		return r.p.Jobs[i].Why.Kind.String()
	}
	return ""
}

// Text returns the reason in words; empty if the snapshot does not have the job.
func (r *Reasons) Text(id job.ID) string {
	i, ok := r.index(id)
	if !ok {
		return ""
	}
	if r.state == nil {
		r.look()
	}
	d := &r.p.Jobs[i]
	here := explainContext{spec: r.s.Jobs[i].Spec, why: d.Why, holds: d.Allocation.Configuration, view: r.view, refused: r.p.Refused, moved: r.state.gave(id)}
	r.order.others(&here)
	return here.because() + r.state.went(id)
}

// index returns where a job is in the snapshot.
func (r *Reasons) index(id job.ID) (int, bool) {
	if r.at == nil && r.s != nil {
		r.at = make(map[job.ID]int, len(r.s.Jobs))
		for i, j := range r.s.Jobs {
			r.at[j.ID] = i
		}
	}
	i, ok := r.at[id]
	return i, ok
}

// look finds out what reasons need.
func (r *Reasons) look() {
	s, p := r.s, r.p
	w := &clusterState{cluster: s.Cluster, rentals: s.Rentals, prices: p.Prices, refused: p.Refused, gains: newGains(), jobs: make(map[job.ID]*row, len(s.Jobs))}
	rows := make([]row, len(s.Jobs))
	for i, j := range s.Jobs {
		d := &p.Jobs[i]
		rows[i] = row{spec: j.Spec, holds: d.Allocation, on: d.Placement, why: d.Why, ruled: true}
		w.jobs[j.ID] = &rows[i]
		if !d.Placement.Equal(j.Placement) {
			w.gains.add(j.ID, more(d.Placement, j.Placement))
		}
	}
	r.state, r.view, r.order = w, w.view(), orderOf(pointers(rows))
}

// pointers returns pointers to rows, in order.
func pointers(rows []row) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for i := range rows {
			if !yield(&rows[i]) {
				return
			}
		}
	}
}
