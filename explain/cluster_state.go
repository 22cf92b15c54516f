package explain

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
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

// rivals returns the names of the waiting jobs that offer more per GPU of the same type than the job
// with the reason why, those that offer most first.
func (w *clusterState) rivals(why policy.Reason) []string {
	return w.waiting(func(other policy.Reason) bool {
		return other.Kind == policy.WaitPrice && other.Config.GPUType == why.Config.GPUType && offersMore(other.Value, why.Value)
	}, func(other policy.Reason) float64 { return -other.Value })
}

// ahead returns the names of the jobs that wait in the queue before the job with the reason why, the
// first one first; none where reasons do not say who stands at each place.
func (w *clusterState) ahead(why policy.Reason) []string {
	places := map[float64]int{}
	names := w.waiting(func(other policy.Reason) bool {
		at, queued := place(other)
		if queued = queued && at < why.Value; queued {
			places[at]++
		}
		return queued
	}, func(other policy.Reason) float64 { at, _ := place(other); return at })
	for at := range int(why.Value) {
		if places[float64(at)] != 1 {
			return nil
		}
	}
	return names
}

// place returns how many jobs are ahead of one in the queue: nobody, if only GPUs are lacking.
func place(why policy.Reason) (ahead float64, queued bool) {
	switch why.Kind {
	case policy.WaitNoCapacity:
		return 0, true
	case policy.WaitOrder:
		return why.Value, true
	default:
		return 0, false
	}
}

// waiting returns the names of the waiting jobs whose reasons fit, in an order, then by name.
func (w *clusterState) waiting(fits func(policy.Reason) bool, order func(policy.Reason) float64) []string {
	var all []*row
	for _, r := range w.jobs { // sorted below
		if r.holds.IsZero() && r.ruled && fits(r.why) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *row) int {
		return cmp.Or(cmp.Compare(order(a.why), order(b.why)), cmp.Compare(a.spec.ID, b.spec.ID))
	})
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = called(r.spec)
	}
	return names
}

// called returns the name of a job, or its ID if it has none.
func called(s *job.Spec) string { return cmp.Or(s.Name, string(s.ID)) }

// offersMore reports whether offer a is larger than b by more than the error of solvers.
func offersMore(a, b float64) bool {
	_, _, same := apart(a, b)
	return !same && a > b
}

// others adds to a context the other jobs that its reason speaks of.
func (w *clusterState) others(s *explainContext) {
	switch s.why.Kind {
	case policy.WaitPrice:
		s.rivals = w.rivals(s.why)
	case policy.WaitOrder:
		s.ahead = w.ahead(s.why)
	default:
	}
}

// contextOf returns what sentences about a job may use now.
func (w *clusterState) contextOf(r *row) explainContext {
	s := explainContext{spec: r.spec, why: r.why, holds: r.holds.Configuration, view: w.view(), refused: w.refused}
	w.others(&s)
	return s
}
