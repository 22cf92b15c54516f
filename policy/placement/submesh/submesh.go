package submesh

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// Options configure a Placer.
type Options struct {
	// Split is for allocations of no submesh shape, such as 3, 6 or 10 GPUs on nodes of 4. It scatters the
	// GPUs beyond whole nodes over several nodes if no single node has room for them. Without it, smaller
	// jobs are moved to make room. Default true, as in the public simulator.
	Split bool
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options { return Options{Split: true} }

// A Placer chooses nodes by the rules of Sia §3.3.1 (placement.Placer). Its placements depend only on the snapshot
// and the plan.
type Placer struct {
	o       Options
	cluster *cluster.Cluster
	pools   []pool
	nodes   []node
	memo    []memo // of the last round with a change, in the order of its jobs
	counts  bool
	host    placement.Settler
	room    []cluster.Resources // by node: CPUs and memory that plans leave free

	// Of the round being placed:
	s        *policy.Snapshot
	p        *policy.Plan
	claims   []claim
	pending  []piece // sorted from head on
	head     int
	back     []int32   // dropped jobs that hold GPUs
	reverted bool      // some jobs keep their old allocation
	listed   bool      // tenants is up to date
	tenants  [][]int32 // by node: jobs in state staying

	// Memory of makeRoom:
	open    []clearing
	movable []tenant
	victims []int32
}

// New returns a Placer.
func New(o Options) *Placer { return &Placer{o: o} }

// Incremental implements placement.Incremental.
func (*Placer) Incremental() {}

type claim struct {
	state state
	pool  int32
	where *memory // its nodes, if staying or fixed; nil if one has left the cluster
	slots []slot  // GPUs that it got in this round
	own   int     // a resized job: how many of slots it held before
}

type state uint8

const (
	none  state = iota // no GPUs granted
	fixed              // placed by the policy, non-preemptive, or without checkpoints: stays
	staying
	moving  // needs a place, or got one in this round
	dropped // no placement
)

type slot struct{ node, gpus int32 }

// Place implements placement.Placer. It returns an error, with the plan unfinished, if a placement that the
// policy chose is not free or the cluster lacks a GPU type. If nothing changed, it takes time linear in the
// jobs and allocates no memory.
func (pl *Placer) Place(_ context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	placement.Confine(s, p)
	pl.s, pl.p = s, p
	defer func() { pl.s, pl.p = nil, nil }()
	known := s.Cluster == pl.cluster
	if !known {
		pl.adopt(s.Cluster)
	}
	if pl.counts {
		pl.host.Read(s, p)
	}
	if !known || !pl.keepAll() {
		if err := pl.claim(); err != nil {
			return nil, err
		}
		pl.placePending()
		if pl.counts && pl.reverted {
			pl.host.Read(s, p) // jobs that keep their old allocation
		}
		pl.write()
	}
	if pl.counts {
		pl.host.Follow(p)
		pl.host.Settle()
		pl.host.Write(s, p)
	}
	return p, nil
}

// keepAll keeps every placement if no allocation changed. Changes of CPUs and memory do not count if they are divided
// later.
func (pl *Placer) keepAll() bool {
	for i, j := range pl.s.Jobs {
		d := &pl.p.Jobs[i]
		if d.Allocation.GPUs != 0 && (len(d.Placement) > 0 || !pl.same(d, j) || len(j.Placement) == 0) {
			return false
		}
	}
	for i, j := range pl.s.Jobs {
		if d := &pl.p.Jobs[i]; d.Allocation.GPUs != 0 {
			d.Placement = j.Placement
		}
	}
	return true
}

func (pl *Placer) same(d *policy.Decision, j *policy.Job) bool {
	if pl.counts {
		return d.Allocation.SameGPUs(&j.Allocation)
	}
	return d.Allocation == j.Allocation
}

func stays(j *policy.Job, d *policy.Decision) bool {
	return d.Allocation.SameGPUs(&j.Allocation) && len(j.Placement) > 0
}

func (pl *Placer) claim() error {
	pl.locate()
	pl.pending, pl.head, pl.listed, pl.reverted = pl.pending[:0], 0, false, false
	for i := range pl.nodes {
		pl.nodes[i].free = pl.nodes[i].size - int32(pl.s.Continuing.On(i))
	}
	for i := range pl.room {
		pl.room[i] = pl.cluster.Nodes()[i].Capacity
	}
	for i := range pl.claims { // jobs that must stay come before jobs that may
		if c := &pl.claims[i]; c.state == fixed && !pl.occupy(i) {
			if len(pl.p.Jobs[i].Placement) > 0 {
				return fmt.Errorf("submesh: job %s: the placement %v chosen by the policy is not free", pl.s.Jobs[i].ID, pl.p.Jobs[i].Placement)
			}
			c.state = moving
		}
	}
	for i := range pl.claims {
		c := &pl.claims[i]
		if c.state == staying && !pl.occupy(i) {
			c.state = moving
		}
		if c.state == moving {
			if c.pool < 0 {
				return fmt.Errorf("submesh: job %s: GPU type %q is not in the cluster", pl.s.Jobs[i].ID, pl.p.Jobs[i].Allocation.GPUType)
			}
			if !pl.resize(i) {
				pl.enqueue(i)
			}
		}
	}
	for i := range pl.pools {
		pl.pools[i].shelve(pl.nodes)
	}
	return nil
}

func opening(j *policy.Job, d *policy.Decision, now time.Time) state {
	switch {
	case d.Allocation.GPUs == 0:
		return none
	case len(d.Placement) > 0:
		return fixed
	case !stays(j, d):
		return moving
	case j.NonPreemptive || unsaved(j, now) > bearableLoss:
		return fixed
	}
	return staying
}

func (pl *Placer) occupy(i int) bool {
	c, held := &pl.claims[i], pl.holds(i)
	if c.where == nil {
		return false // a node has left the cluster
	}
	for k, at := range c.where.at {
		n, g := &pl.nodes[at], held[k].GPUs
		if n.pool != c.pool && !pl.second(i, at) || int(n.free) < g || g < 1 {
			for k := range k {
				pl.nodes[c.where.at[k]].free += int32(held[k].GPUs)
			}
			return false
		}
		n.free -= int32(g)
	}
	for k, at := range c.where.at {
		pl.bookHost(int32(i), at, int32(held[k].GPUs))
	}
	return true
}

func (pl *Placer) second(i int, at int32) bool {
	return pl.p.Jobs[i].Allocation.Has(pl.cluster.Nodes()[at].GPUType)
}

func (pl *Placer) holds(i int) cluster.Placement {
	if given := pl.p.Jobs[i].Placement; len(given) > 0 {
		return given
	}
	return pl.s.Jobs[i].Placement
}

const bearableLoss = 15 * time.Minute

// unsaved returns the work that a job loses when it moves. A job that was resized may lose all, because its last start
// is unknown.
func unsaved(j *policy.Job, now time.Time) time.Duration {
	switch {
	case !j.NoCheckpoint:
		return 0
	case j.Resizes:
		return j.AttainedService(now)
	}
	return now.Sub(j.Since)
}

// weight returns the cost of moving a job: 1, plus 1 for each lost minute.
func weight(j *policy.Job, d *policy.Decision, now time.Time) int {
	if j.Phase == job.Restoring || d.Why.Kind == policy.PinnedRestore || d.Why.Kind == policy.Reserved {
		return 1000
	}
	return 1 + int(unsaved(j, now)/time.Minute)
}
