package explain

import (
	"regexp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

type clusterState struct {
	policy  string // its name; empty: not known
	now     time.Duration
	cluster *cluster.Cluster
	rentals []cluster.Rental
	jobs    map[job.ID]*row
	ids     []job.ID // of every job ever submitted
	prices  []policy.TypePrice
	refused string // why the last round's plan was refused, if it was
	gains   gains

	length    time.Duration
	lastRound time.Duration
	freed     map[cluster.GPUType]int
	freedAt   map[cluster.GPUType]time.Duration
}

type row struct {
	spec  *job.Spec
	holds cluster.Allocation
	on    cluster.Placement
	why   policy.Reason
	ruled bool // why explains what the job has now; false until a round has decided on it
}

func newClusterState(h journal.Header) clusterState {
	return clusterState{
		policy: h.Policy, cluster: h.Cluster.Held(), rentals: h.Cluster.Rentals(), jobs: map[job.ID]*row{}, length: h.Round,
		freed: map[cluster.GPUType]int{}, freedAt: map[cluster.GPUType]time.Duration{},
	}
}

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
		before := map[cluster.GPUType]int{}
		for _, t := range w.cluster.Types() {
			before[t.Type] = t.GPUs
		}
		for _, t := range ev.Cluster.Types() {
			w.free(t.Type, t.GPUs-before[t.Type])
		}
		w.cluster, w.rentals = ev.Cluster, ev.Rentals
	case scheduler.Exited:
		r := w.jobs[ev.Job]
		if r == nil {
			return
		}
		w.free(r.holds.GPUType, r.holds.GPUs)
		w.free(r.holds.Also.GPUType, r.holds.Also.GPUs)
		r.holds, r.on, r.ruled = cluster.Allocation{}, nil, false // its reason explained GPUs that it no longer has
		if ev.Outcome != scheduler.Lost {
			delete(w.jobs, ev.Job)
		}
	}
}

func (w *clusterState) free(t cluster.GPUType, n int) {
	if n > 0 {
		w.freed[t] += n
		w.freedAt[t] = w.now
	}
}

func (w *clusterState) freedOf(t cluster.GPUType, at time.Duration) freed {
	f := freed{gpus: w.freed[t], ago: at - w.freedAt[t], next: w.lastRound + w.length - at}
	if f.ago > w.length || f.ago < 0 { // there was a round since, which is not recorded
		return freed{}
	}
	return f
}

func (w *clusterState) round(r *journal.Round) {
	w.lastRound = w.now
	clear(w.freed)
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

func (w *clusterState) view() View {
	var v View
	held := map[cluster.GPUType]int{}
	for _, r := range w.jobs { // sums: the order does not matter
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

// Called returns the name to print for a job. This is its ID, or its name if the ID is a UUID, as on Kubernetes.
func Called(s *job.Spec) string {
	if s.Name != "" && unreadable.MatchString(string(s.ID)) {
		return s.Name
	}
	return string(s.ID)
}

var unreadable = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func (w *clusterState) contextOf(r *row, at time.Duration) explainContext {
	s := w.contextWith(r, w.view(), at)
	if needsOrder(s.why) {
		w.order().others(&s)
	}
	return s
}

func (w *clusterState) contextWith(r *row, view View, at time.Duration) explainContext {
	s := explainContext{policy: w.policy, spec: r.spec, why: r.why, holds: r.holds.Configuration, view: view, refused: w.refused}
	s.freed = w.freedOf(r.why.Config.GPUType, at)
	s.gained, s.donors = w.donors(r.spec.ID)
	if s.gave = w.gave(r.spec.ID); s.gave {
		s.lost, s.takers = w.gains.had[r.spec.ID], w.takers(r.spec.ID)
	}
	return s
}
