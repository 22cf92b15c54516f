package explain

import (
	"iter"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Because states why a job has the GPUs that a plan gives it: the name of the policy's reason, and a text.
type Because struct {
	Reason string
	Text   string // in words; with what would change the decision, if anything
}

// Reasons explain why each job has the GPUs that a plan gives it.
type Reasons struct {
	// Policy is the name of the policy, for sentences; may be empty.
	Policy string
	// Preemption, if not nil, returns why a job must not be preempted.
	Preemption func(job.ID) Preemption

	s     *policy.Snapshot
	p     *policy.Plan
	index map[job.ID]int // in s and p; nil: nothing was asked yet
	state *clusterState  // nil: no text was asked for yet
	view  View
	order *jobOrder
}

// Now returns the reasons of plan p for snapshot s, or none if s is nil. Neither may change while the result is in
// use.
func Now(s *policy.Snapshot, p *policy.Plan) *Reasons { return &Reasons{s: s, p: p} }

// Of returns why job id has its GPUs, or why it has none. For n jobs the first call takes O(n log n), later ones
// constant time.
func (r *Reasons) Of(id job.ID) Because { return Because{r.Reason(id), r.Text(id)} }

// Reason returns the name of the policy's reason for job id, or "" if the snapshot lacks the job.
func (r *Reasons) Reason(id job.ID) string {
	if i, ok := r.find(id); ok {
		return r.p.Jobs[i].Why.Kind.String()
	}
	return ""
}

// Text returns the policy's reason for job id in words, or "" if the snapshot lacks the job.
func (r *Reasons) Text(id job.ID) string {
	if _, ok := r.find(id); !ok {
		return ""
	}
	if r.state == nil {
		r.prepare()
	}
	here := r.state.contextWith(r.state.jobs[id], r.view, 0)
	if r.Preemption != nil {
		here.preemption = r.Preemption(id)
	}
	r.order.others(&here)
	return here.because()
}

func (r *Reasons) find(id job.ID) (int, bool) {
	if r.index == nil && r.s != nil {
		r.index = make(map[job.ID]int, len(r.s.Jobs))
		for i, j := range r.s.Jobs {
			r.index[j.ID] = i
		}
	}
	i, ok := r.index[id]
	return i, ok
}

func (r *Reasons) prepare() {
	s, p := r.s, r.p
	w := &clusterState{policy: r.Policy, cluster: s.Cluster, rentals: s.Rentals, prices: p.Prices, refused: p.Refused, gains: newGains(), jobs: make(map[job.ID]*row, len(s.Jobs))}
	rows := make([]row, len(s.Jobs))
	for i, j := range s.Jobs {
		d := &p.Jobs[i]
		rows[i] = row{spec: j.Spec, holds: d.Allocation, on: d.Placement, why: d.Why, ruled: true}
		w.jobs[j.ID] = &rows[i]
		if !d.Placement.Equal(j.Placement) {
			w.gains.add(j.ID, more(d.Placement, j.Placement), j.Allocation)
		}
	}
	r.state, r.view, r.order = w, w.view(), orderOf(pointers(rows))
}

func pointers(rows []row) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for i := range rows {
			if !yield(&rows[i]) {
				return
			}
		}
	}
}
