package explain

import (
	"regexp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A clusterState is the state of the cluster and its jobs, as recorded events and actions
// leave it.
type clusterState struct {
	cluster *cluster.Cluster
	rentals []cluster.Rental
	jobs    map[job.ID]*row
	ids     []job.ID // of every job ever submitted
	prices  []policy.TypePrice
	refused string // why the last round's plan was refused, if it was
	gains   gains  // of the last round
}

// A row is one job that has not ended.
type row struct {
	spec  *job.Spec
	holds cluster.Allocation
	on    cluster.Placement
	why   policy.Reason // that a round gave last
	ruled bool          // why explains what the job has now; false until a round has decided on it
}

func newClusterState(h journal.Header) clusterState {
	return clusterState{cluster: h.Cluster.Held(), rentals: h.Cluster.Rentals(), jobs: map[job.ID]*row{}}
}

// event changes the state by an event.
func (w *clusterState) event(ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Submitted:
		w.jobs[ev.Spec.ID] = &row{spec: ev.Spec}
		w.ids = append(w.ids, ev.Spec.ID)
	case scheduler.Described:
		if r := w.jobs[ev.Spec.ID]; r != nil {
			r.spec = ev.Spec
		}
	case scheduler.Restored:
		w.ids = append(w.ids, ev.Spec.ID)
		if !ev.Status.Phase.Terminal() {
			w.jobs[ev.Spec.ID] = &row{spec: ev.Spec, holds: ev.Status.Allocation, on: ev.Status.Placement}
		}
	case scheduler.NodesChanged:
		w.cluster, w.rentals = ev.Cluster, ev.Rentals
	case scheduler.Exited:
		r := w.jobs[ev.Job]
		if r == nil {
			return
		}
		r.holds, r.on, r.ruled = cluster.Allocation{}, nil, false // its reason explained GPUs that it no longer has
		if ev.Outcome != scheduler.Lost {
			delete(w.jobs, ev.Job)
		}
	}
}

// round changes the state by the decisions and actions of a round.
func (w *clusterState) round(r *journal.Round) {
	w.prices, w.refused = r.Prices, r.Refused
	w.gains = w.gainsOf(r.Actions)
	for i := range r.Changed {
		if row := w.jobs[r.Changed[i].Job]; row != nil {
			row.why, row.ruled = r.Changed[i].Why, true
		}
	}
	for _, a := range r.Actions {
		switch a := a.(type) {
		case scheduler.Run:
			if row := w.jobs[a.Job]; row != nil {
				row.holds, row.on, row.ruled = a.Allocation, a.Placement, true
			}
		case scheduler.Preempt:
			if row := w.jobs[a.Job]; row != nil {
				row.holds, row.on = cluster.Allocation{}, nil
			}
		}
	}
}

// view returns the state as it is shown to users.
func (w *clusterState) view() View {
	var v View
	held := map[cluster.GPUType]int{}
	for _, r := range w.jobs { // these are sums: the order does not matter
		if r.holds.IsZero() {
			v.Waiting++
			continue
		}
		v.Running++
		held[r.holds.GPUType] += r.holds.GPUs
		held[r.holds.Also.GPUType] += r.holds.Also.GPUs
	}
	for _, t := range w.cluster.Types() {
		one := TypeView{Type: t.Type, GPUs: t.GPUs, Free: max(0, t.GPUs-held[t.Type])}
		for _, p := range w.prices {
			if p.Type == t.Type {
				price := p.Price
				one.Price, one.CPU, one.Memory = &price, p.CPU, p.Memory
			}
		}
		v.Types = append(v.Types, one)
	}
	for i := range w.rentals {
		v.rented(&w.rentals[i])
	}
	return v
}

// rented adds the state of the nodes of one offer.
func (v *View) rented(r *cluster.Rental) {
	i := slices.IndexFunc(v.Types, func(t TypeView) bool { return t.Type == r.Node.GPUType })
	if i < 0 {
		i = len(v.Types)
		v.Types = append(v.Types, TypeView{Type: r.Node.GPUType})
	}
	t := &v.Types[i]
	t.Starting += r.Starting * r.Node.Capacity.GPUs
	t.Refused = t.Refused || r.Refused
}

// Called returns what a job is called on a page: its ID, which users type and which no other job has, or its name if nobody can read
// the ID, as on Kubernetes.
func Called(s *job.Spec) string {
	if s.Name != "" && unreadable.MatchString(string(s.ID)) {
		return s.Name
	}
	return string(s.ID)
}

// unreadable are IDs that a cluster makes (RFC 9562).
var unreadable = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// contextOf returns what sentences about a job may use now.
func (w *clusterState) contextOf(r *row) explainContext {
	s := explainContext{spec: r.spec, why: r.why, holds: r.holds.Configuration, view: w.view(), refused: w.refused, moved: w.gave(r.spec.ID)}
	if needsOrder(s.why) {
		w.order().others(&s)
	}
	return s
}
