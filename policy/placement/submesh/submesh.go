package submesh

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/hostalloc"
)

// Options configure a Placer.
type Options struct {
	// Split scatters what is left of an allocation of no submesh shape (3, 6
	// or 10 GPUs on nodes of 4) over several nodes, where no single node has
	// room for it. Without it smaller jobs are moved to make room, and the
	// allocation is taken back if that fails. Default true, as in the public
	// simulator.
	Split bool
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options { return Options{Split: true} }

// A Placer implements placement.Placer. Its placements depend only on the
// snapshot and the plan. Between rounds it remembers the positions of nodes, so
// that it need not look them up by name. It is not safe for concurrent use.
type Placer struct {
	o       Options
	cluster *cluster.Cluster
	pools   []pool
	nodes   []node
	memo    []memo // of the last round with a change, in the order of its jobs
	counts  bool   // some nodes count CPUs and memory
	host    hostalloc.Settler
	room    []cluster.Resources // by node: CPUs and memory less what the plan names for jobs placed there

	// Of the round being placed:
	s       *policy.Snapshot
	p       *policy.Plan
	claims  []claim // by job
	pending []piece // what is to be placed; sorted from head on
	head    int
	back    []int32   // jobs that hold GPUs and got no place for others
	kept    bool      // some keep what they had in place of what the plan says
	listed  bool      // tenants are those of this round
	tenants [][]int32 // jobs that keep their place, by node

	// Memory of makeRoom:
	open    []clearing
	movable []tenant
	victims []int32
}

// New returns a Placer. All Options are valid.
func New(o Options) *Placer { return &Placer{o: o} }

// Incremental implements placement.Incremental.
func (*Placer) Incremental() {}

// A claim is what a job holds in the round being placed.
type claim struct {
	state state
	pool  int32
	where *memory // its nodes, if it is kept or fixed; nil if they are gone
	slots []slot  // what it got, if it is placed now
	own   int     // of slots, those that it had: it is resized
}

// A state is the state of a job in the round being placed.
type state uint8

const (
	none    state = iota // no GPUs granted
	fixed                // placed by the policy, non-preemptive, or without checkpoints: stays
	kept                 // stays, unless it is displaced
	moving               // to be placed, or placed now
	dropped              // no placement
)

// A slot is some GPUs of a node.
type slot struct{ node, gpus int32 }

// Place implements placement.Placer: it fills in the placements that are nil.
// It returns an error, and leaves the plan unfinished, if the GPUs of a
// placement that the policy gave are not free. If nothing changed since the last
// round, it takes time linear in the number of jobs and allocates no memory.
func (pl *Placer) Place(_ context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	pl.s, pl.p = s, p
	defer func() { pl.s, pl.p = nil, nil }()
	known := s.Cluster == pl.cluster
	if !known {
		pl.adopt(s.Cluster)
	}
	if pl.counts {
		pl.host.Read(s, p)
	}
	if !known || !pl.keepAll() { // 1. most rounds change nothing
		if err := pl.claim(); err != nil { // 2. who stays, and what is free then
			return nil, err
		}
		pl.placePending() // 3. the others, from large to small
		if pl.counts && pl.kept {
			pl.host.Read(s, p) // of what they keep
		}
		pl.write() // 4. names instead of numbers
	}
	if pl.counts { // 5. a node's CPUs and memory, by need
		pl.host.Follow(p)
		pl.host.Settle()
		pl.host.Write(s, p)
	}
	return p, nil
}

// keepAll lets every job keep its placement and reports true, if no allocation changed and the
// policy gave no placement. If CPUs and memory are settled later, changes of them do not count.
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

// same reports whether j is granted what it holds.
func (pl *Placer) same(d *policy.Decision, j *policy.Job) bool {
	if pl.counts {
		return d.Allocation.SameGPUs(&j.Allocation)
	}
	return d.Allocation == j.Allocation
}

// stays reports whether j may stay on its nodes: CPUs and memory may change.
func stays(j *policy.Job, d *policy.Decision) bool {
	return d.Allocation.SameGPUs(&j.Allocation) && len(j.Placement) > 0
}

// claim finds out for every job whether it stays, counts the GPUs that are then
// free, and queues the jobs that do not stay.
func (pl *Placer) claim() error {
	pl.locate()
	pl.pending, pl.head, pl.listed, pl.kept = pl.pending[:0], 0, false, false
	for i := range pl.nodes {
		pl.nodes[i].free = pl.nodes[i].size - int32(pl.s.Continuing.On(i))
	}
	for i := range pl.room {
		pl.room[i] = pl.cluster.Nodes()[i].Capacity
	}
	for i := range pl.claims { // what must stay comes before what may
		if c := &pl.claims[i]; c.state == fixed && !pl.occupy(i) {
			if len(pl.p.Jobs[i].Placement) > 0 {
				return fmt.Errorf("submesh: job %s: its given placement %v is not free", pl.s.Jobs[i].ID, pl.p.Jobs[i].Placement)
			}
			c.state = moving
		}
	}
	for i := range pl.claims {
		c := &pl.claims[i]
		if c.state == kept && !pl.occupy(i) {
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

// opening returns the state a job starts the round with.
func opening(j *policy.Job, d *policy.Decision, now time.Time) state {
	switch {
	case d.Allocation.GPUs == 0:
		return none
	case len(d.Placement) > 0:
		return fixed
	case !stays(j, d):
		return moving
	case j.NonPreemptive || unsaved(j, now) > bearable:
		return fixed
	}
	return kept
}

// occupy takes the GPUs that job i holds, and reports true, if all of them are free and of the
// right type; otherwise it takes none.
func (pl *Placer) occupy(i int) bool {
	c, held := &pl.claims[i], pl.holds(i)
	if c.where == nil {
		return false // a node is gone
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
		pl.feed(int32(i), at, int32(held[k].GPUs))
	}
	return true
}

// second reports whether a node is of the second GPU type of job i.
func (pl *Placer) second(i int, at int32) bool {
	return pl.p.Jobs[i].Allocation.Has(pl.cluster.Nodes()[at].GPUType)
}

// holds returns the placement job i keeps.
func (pl *Placer) holds(i int) cluster.Placement {
	if given := pl.p.Jobs[i].Placement; len(given) > 0 {
		return given
	}
	return pl.s.Jobs[i].Placement
}

// bearable is what a job may lose of its work when it is moved to make room for others.
const bearable = 15 * time.Minute

// unsaved returns how much work a job loses when it is moved. Of one that was resized nobody
// knows when it began: it may be all it did.
func unsaved(j *policy.Job, now time.Time) time.Duration {
	switch {
	case !j.NoCheckpoint:
		return 0
	case j.Resizes:
		return j.AttainedService(now)
	}
	return now.Sub(j.Since)
}

// weight returns what it costs to move a job: 1, for a restart, and 1 for each minute of work that
// it loses. A job that is restarting now, or
// holds a reservation, weighs so much that it is moved only if nothing else helps.
func weight(j *policy.Job, d *policy.Decision, now time.Time) int {
	if j.Phase == job.Restoring || d.Why.Kind == policy.PinnedRestore || d.Why.Kind == policy.Reserved {
		return 1000
	}
	return 1 + int(unsaved(j, now)/time.Minute)
}
