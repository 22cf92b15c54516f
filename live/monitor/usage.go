package monitor

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

const (
	productive = iota // its job trains
	restarting
	heldIdle // processes of a job that lost it still run
	free
	states
)

var stateNames = [states]string{"productive", "restarting", "held_idle", "free"}

type holding struct {
	held   cluster.Allocation
	on     cluster.Placement
	trains bool
}

// Invariant: counts are the sums over held.
type usage struct {
	q       *Queue
	at      time.Time // zero before the first event
	cluster *cluster.Cluster
	held    map[job.ID]*holding
	counts  map[cluster.GPUType]*[2]int // productive and restarting GPUs
	idle    map[cluster.GPUType]int
}

func (u *usage) settle(now time.Time) {
	d := now.Sub(u.at).Seconds()
	if u.at.IsZero() {
		d = 0
	}
	if u.cluster != nil {
		for _, t := range u.cluster.Types() {
			n := u.now(&t)
			for state, name := range stateNames {
				u.q.m.gpus.WithLabelValues(u.q.name, string(t.Type), name).Set(float64(n[state]))
				u.q.m.gpuSeconds.WithLabelValues(u.q.name, string(t.Type), name).Add(math.Max(0, d) * float64(n[state]))
			}
		}
	}
	if now.After(u.at) {
		u.at = now
	}
}

func (u *usage) now(t *cluster.TypeInfo) (n [states]int) {
	if c := u.counts[t.Type]; c != nil {
		n[productive], n[restarting] = c[productive], c[restarting]
	}
	rest := max(0, t.GPUs-n[productive]-n[restarting])
	n[heldIdle] = min(rest, max(0, u.idle[t.Type]))
	n[free] = rest - n[heldIdle]
	return n
}

func (u *usage) count(h *holding, sign int) {
	state := restarting
	if h.trains {
		state = productive
	}
	if u.counts == nil {
		u.counts = make(map[cluster.GPUType]*[2]int)
	}
	for _, c := range []cluster.Configuration{h.held.Configuration, h.held.Also} {
		if c.GPUs == 0 {
			continue
		}
		if u.counts[c.GPUType] == nil {
			u.counts[c.GPUType] = new([2]int)
		}
		u.counts[c.GPUType][state] += sign * c.GPUs
	}
}

func (u *usage) set(id job.ID, h holding) {
	if old := u.held[id]; old != nil {
		u.count(old, -1)
		delete(u.held, id)
	}
	if h.held.GPUs > 0 {
		u.held[id] = &h
		u.count(&h, 1)
	}
}

func (u *usage) event(now time.Time, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Restored:
		u.settle(now)
		if !ev.Status.Phase.Terminal() {
			u.set(ev.Spec.ID, holding{ev.Status.Allocation, ev.Status.Placement, ev.Status.Phase == job.Running})
		}
	case scheduler.Reported:
		h := u.held[ev.Job]
		if h != nil && !h.trains && !ev.Profile && ev.Configuration == h.held.Configuration {
			u.settle(now)
			u.set(ev.Job, holding{h.held, h.on, true})
		}
	case scheduler.Exited:
		u.settle(now)
		u.set(ev.Job, holding{})
	case scheduler.NodesChanged:
		u.settle(now)
		u.change(ev.Cluster)
	}
}

func (u *usage) change(c *cluster.Cluster) {
	if u.cluster != nil && u.cluster != c {
		for _, t := range u.cluster.Types() {
			if _, there := c.Type(t.Type); !there {
				for _, name := range stateNames {
					u.q.m.gpus.DeleteLabelValues(u.q.name, string(t.Type), name)
				}
			}
		}
	}
	u.cluster = c
}

func (u *usage) round(s *policy.Snapshot, acts []scheduler.Action) {
	u.change(s.Cluster)
	u.settle(s.Now)
	if u.q.source.Stopping != nil {
		u.idle = u.q.source.Stopping()
	}
	for _, a := range acts {
		switch a := a.(type) {
		case scheduler.Run:
			h := u.held[a.Job]
			goesOn := h != nil && (a.InPlace(h.held, h.on) || a.Free || a.Resized)
			u.set(a.Job, holding{a.Allocation, a.Placement, goesOn && h.trains})
		case scheduler.Preempt:
			u.set(a.Job, holding{})
		}
	}
	u.settle(s.Now) // for the current values
	u.q.m.goodput.WithLabelValues(u.q.name).Set(u.goodput(s))
}

func (u *usage) goodput(s *policy.Snapshot) float64 {
	var sum float64
	for _, j := range s.Jobs {
		if h := u.held[j.ID]; h != nil && h.trains {
			sum += float64(h.held.AllGPUs()) * efficiency(j)
		}
	}
	return math.Min(1, sum/math.Max(1, float64(s.Cluster.GPUs())))
}

func efficiency(j *policy.Job) float64 {
	total := j.Status.Batch.PerReplica() * j.Allocation.AllGPUs() / j.ReplicaGPUs(j.Allocation.GPUType)
	if j.Perf == nil || total <= 0 {
		return 1
	}
	e := j.Perf.Efficiency(float64(total))
	if !finite(e) {
		return 1
	}
	return math.Max(0, math.Min(1, e))
}
