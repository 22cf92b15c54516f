package multifactor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A Policy makes the decisions of Slurm's multifactor priority and backfill plugins. It stores the time of its last
// backfill pass and the GPU usage of users. It is not safe for concurrent use.
type Policy struct {
	o       Options
	filled  time.Time    // last backfill; zero: never
	plan    *policy.Plan // valid until something happens; nil: none
	planned []*policy.Job
	on      *cluster.Cluster
	lasts   time.Time // end of plan's validity; zero: none
	used    usage
	line    []place
	nodes   nodes
}

// New returns a Policy, or an error if o is invalid.
func New(o Options) (*Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("multifactor: %w", err)
	}
	return &Policy{o: o}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits { return policy.Traits{} }

// Plan implements policy.Policy. Its time is linear in jobs and nodes; a backfill pass takes time proportional to
// tested jobs times nodes.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("multifactor: round %d: %w", s.Round, err)
	}
	if p.o.FairShare > 0 {
		p.used.advance(s, p.o.HalfLife)
	}
	if p.unchanged(s) {
		return p.plan, nil
	}
	r := &round{Round: grant.NewRound(s), now: s.Now, nodes: &p.nodes}
	r.KeepRunning()
	r.closed = r.Stay()
	p.lineUp(r)
	due := p.backfills(s)
	hopeful := r.anyMayStart()
	if hopeful {
		r.occupy()
		r.main(p.o.Depth)
		if due {
			r.backfill(&p.o.Backfill)
		}
	}
	r.explain()
	p.remember(r, due, hopeful)
	return r.Plan(), nil
}

func (p *Policy) backfills(s *policy.Snapshot) bool {
	if p.o.Tests == 0 || !p.filled.IsZero() && s.Now.Sub(p.filled) < p.o.Interval {
		return false
	}
	p.filled = s.Now
	return true
}

// remember stores the plan of a backfill that started nothing. It is valid until something happens or a job is overdue.
func (p *Policy) remember(r *round, due, hopeful bool) {
	p.plan, p.lasts = nil, time.Time{}
	if !due || slices.ContainsFunc(r.line, func(at place) bool { return at.done }) {
		return
	}
	if hopeful && len(r.nodes.ends) > 0 {
		p.lasts = r.nodes.began.Add(r.nodes.ends[0].at - overdue)
	}
	p.plan, p.on, p.planned = r.Plan(), r.Snapshot.Cluster, append(p.planned[:0], r.Snapshot.Jobs...)
}

func (p *Policy) unchanged(s *policy.Snapshot) bool {
	return p.plan != nil && (p.lasts.IsZero() || s.Now.Before(p.lasts)) && p.on == s.Cluster && slices.Equal(p.planned, s.Jobs)
}

type round struct {
	*grant.Round
	now    time.Time
	nodes  *nodes
	closed []bool // types on which nothing may start, because the placer must find nodes first
	line   []place
}

type place struct {
	index    int
	priority float64
	limit    time.Duration
	wants    []want // none: it can never run
	done     bool
	starts   time.Duration // reserved start from now; 0: unknown
}

func (p *Policy) lineUp(r *round) {
	p.line = p.line[:0]
	for i, j := range r.Snapshot.Jobs {
		if r.Decided(i) {
			continue
		}
		at := place{index: i, priority: p.priority(r.Snapshot, j), limit: limit(j)}
		for t := range r.Types {
			if w, ok := wantOf(j, t, &r.Types[t]); ok {
				at.wants = append(at.wants, w)
			}
		}
		p.line = append(p.line, at)
	}
	slices.SortStableFunc(p.line, byPriority)
	r.line = p.line
}

func (r *round) anyMayStart() bool {
	return slices.ContainsFunc(r.line, func(at place) bool {
		return slices.ContainsFunc(at.wants, func(w want) bool { return !r.closed[w.t] && w.size <= r.Free(w.t) })
	})
}

func (r *round) main(depth int) {
	var blocked []string
	closed := slices.Clone(r.closed)
	for k := range r.line[:min(depth, len(r.line))] {
		at := &r.line[k]
		queue := r.Snapshot.Jobs[at.index].Queue
		if len(at.wants) == 0 || slices.Contains(blocked, queue) || r.start(at, closed) {
			continue
		}
		blocked = append(blocked, queue)
		for i := range at.wants {
			closed[at.wants[i].t] = true
		}
	}
}

func (r *round) start(at *place, closed []bool) bool {
	for i := range at.wants {
		w := &at.wants[i]
		if closed[w.t] || !r.nodes.mayFit(w) {
			continue
		}
		if on := r.nodes.pick(w); on != nil {
			r.give(at, w, on)
			return true
		}
	}
	return false
}

func (r *round) give(at *place, w *want, on []int) {
	if !r.Assign(at.index, w.t, w.allocation()) {
		return
	}
	r.Plan().Jobs[at.index].Placement = r.nodes.place(w, on, at.limit)
	at.done = true
}

func (r *round) explain() {
	waiting := 0
	var head *place
	for k := range r.line {
		at := &r.line[k]
		if at.done {
			continue
		}
		j, d := r.Snapshot.Jobs[at.index], &r.Plan().Jobs[at.index]
		gpus := float64(grant.Requested(j))
		switch {
		case len(at.wants) == 0:
			r.Lacks(at.index, -1, 0)
			continue
		case waiting == 0:
			head = at
			r.Lacks(at.index, at.wants[0].t, at.wants[0].size)
		case head.starts > 0 && r.fits(at):
			d.Why = policy.Reason{Kind: policy.WaitBackfill, Value: head.starts.Round(time.Second).Seconds(), Limit: gpus}
		default:
			d.Why = policy.Reason{Kind: policy.WaitOrder, Value: float64(waiting), Limit: gpus}
		}
		waiting++
	}
}

func (r *round) fits(at *place) bool {
	return slices.ContainsFunc(at.wants, func(w want) bool { return !r.closed[w.t] && r.nodes.mayFit(&w) })
}

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *memory.Codec) {
	m.Fields(&p.filled, &p.lasts, &p.used.total, &p.used.at, &p.nodes)
	memory.Map(m, &p.used.of, memory.Float)
	memory.Pointer(m, &p.plan, func(plan *policy.Plan, m *memory.Codec) { memory.Slice(m, &plan.Jobs, (*policy.Decision).Remember) })
	memory.Slice(m, &p.planned, func(j **policy.Job, m *memory.Codec) { memory.Shared(m, j) })
	memory.Shared(m, &p.on)
}

// Remember implements memory.Rememberer. It stores the free resources of nodes: computing them again from the jobs
// would round differently.
func (n *nodes) Remember(m *memory.Codec) {
	memory.Once(m, &n.cluster, (*cluster.Cluster).Remember)
	if m.Fields(&n.began); n.cluster == nil {
		return
	}
	if m.Decoding() {
		n.learn(n.cluster, n.began)
	}
	for i := range n.all {
		free := n.all[i].free
		if m.Fields(&free, &n.all[i].holds); m.Decoding() {
			n.leave(&n.all[i], free)
		}
	}
	memory.Slice(m, &n.ends, (*release).Remember)
	memory.Slice(m, &n.given, (*release).Remember)
	memory.Slice(m, &n.holders, func(h *holder, m *memory.Codec) {
		memory.Shared(m, &h.job)
		memory.Slice(m, &h.on, (*release).Remember)
	})
}

func (r *release) Remember(m *memory.Codec) { m.Fields(&r.at, &r.node, &r.Resources) }
