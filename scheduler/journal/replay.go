package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Backend replays a recording as a scheduler.Backend: events happen at their recorded times, whatever actions the
// scheduler requests. It compares the actions of each round with the recorded ones and, with Watch, the whole plan. It
// does the policy's background work again; the result arrives when the recorded work of the same round ended, or else
// at once.
type Backend struct {
	// Shadow counts differences, for instance of another policy; otherwise the first one ends the replay. Set it before
	// the first call of Next.
	Shadow bool

	r      *Reader
	start  time.Time
	now    time.Time
	ahead  *Record // read, and not happened yet; nil at the end
	err    error   // io.EOF, or the error that ended the recording
	jobs   map[job.ID]bool
	most   map[cluster.Group]int // nodes that can be rented or borrowed
	nodes  *cluster.Cluster
	due    bool        // Next last returned nil: the next call of Do is of a round
	work   policy.Work // under way until the recorded work ends; may be nil
	own    policy.Work // under way without recorded work; may be nil
	counts Comparison

	begun     map[job.ID]policy.Decision // recorded at the checkpoint where this began
	decisions map[job.ID]policy.Decision // recorded up to the last compared round; nil: plans are not compared
	planned   *planned                   // to compare next; nil: no plan was seen
}

var _ scheduler.Backend = (*Backend)(nil)

// Replay returns a Backend that replays journal r. r must not have returned any record.
func Replay(r *Reader) *Backend {
	h := r.Header()
	b := &Backend{r: r, start: h.Start, now: h.Start, jobs: map[job.ID]bool{}, most: most(h.Cluster), nodes: h.Cluster.Held()}
	b.advance()
	return b
}

// Resume is like Replay, but starts at checkpoint c. r must start after c.
func Resume(r *Reader, c *Checkpoint) *Backend {
	r.pending = nil
	b := Replay(r)
	b.now, b.nodes, b.begun = b.start.Add(c.At), c.Nodes.Cluster, map[job.ID]policy.Decision{}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		b.jobs[j.Spec.ID] = true
		if j.Decision != nil {
			b.begun[j.Spec.ID] = *j.Decision
		}
	}
	return b
}

func most(c *cluster.Cluster) map[cluster.Group]int {
	n := make(map[cluster.Group]int)
	for _, o := range c.Offers() {
		n[o.Group] = o.Most
	}
	for _, l := range c.Loans() {
		n[l.Group] = l.Nodes
	}
	return n
}

// Comparison returns how far the replay has differed from the recording until now.
func (b *Backend) Comparison() Comparison { return b.counts }

// Now returns the recorded time of the last event or round.
func (b *Backend) Now() time.Time { return b.now }

// advance reads the next record. It skips the end of recorded work if no work is under way here.
func (b *Backend) advance() {
	for {
		rec, err := b.r.Read()
		if b.ahead, b.err = &rec, err; err != nil {
			b.ahead = nil
			return
		}
		if _, ended := rec.Event.(scheduler.Computed); !ended || b.work != nil {
			return
		}
	}
}

func (b *Backend) at() time.Duration { return b.now.Sub(b.start) }

// Next returns the next recorded event up to the deadline, or nil at the deadline. At the end of the journal it
// returns io.EOF, or the error of a truncated or damaged journal.
func (b *Backend) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if b.own != nil {
		return computed(ctx, &b.own), nil
	}
	if err := b.unanswered(deadline); err != nil {
		return nil, err
	}
	if b.ahead == nil {
		return nil, b.err
	}
	if at := b.start.Add(b.ahead.At); b.ahead.Event != nil && !at.After(deadline) {
		ev := b.ahead.Event
		switch e := ev.(type) {
		case scheduler.Submitted:
			b.jobs[e.Spec.ID] = true
		case scheduler.Restored:
			b.jobs[e.Spec.ID] = true
		case scheduler.NodesChanged:
			b.nodes = e.Cluster
		case scheduler.Computed:
			ev = computed(ctx, &b.work)
		}
		if at.After(b.now) {
			b.now = at
		}
		b.advance()
		b.due = false
		return ev, nil
	}
	if at := b.start.Add(b.ahead.At); b.slept(deadline, at) {
		deadline = at
	}
	if deadline.After(b.now) {
		b.now = deadline
	}
	b.due = true
	return nil, nil
}

// slept reports whether the next record is a late round after the machine or the scheduler stood still.
func (b *Backend) slept(deadline, at time.Time) bool {
	round, late := b.r.Header().Round, at.Sub(deadline)
	return b.ahead.Round != nil && !b.Shadow && round > 0 && late > round && late%round != 0
}

func computed(ctx context.Context, work *policy.Work) scheduler.Event {
	result := work.Do(ctx)
	*work = nil
	return scheduler.Computed{Result: result}
}

func (b *Backend) unanswered(deadline time.Time) error {
	for b.ahead != nil && b.ahead.Round != nil {
		at := b.start.Add(b.ahead.At)
		asked := b.due && at.Equal(b.now)
		if at.After(deadline) || at.Equal(deadline) && !asked {
			return nil
		}
		rec := *b.ahead
		b.advance()
		b.due = false
		if err := b.compare(&rec, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// Do compares actions with the actions recorded for this round. It ignores actions after an event and before the next
// round. Unless Shadow is set, it returns the first difference as a *Difference. An impossible action is an error, too.
func (b *Backend) Do(ctx context.Context, actions []scheduler.Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, a := range actions {
		if err := b.known(a); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		if c, ok := a.(scheduler.Compute); ok {
			b.begin(c.Work)
		}
	}
	if !b.due {
		return nil
	}
	b.due = false
	plan := b.planned
	b.planned = nil
	if !b.recorded() {
		if len(actions) == 0 && plan == nil {
			return nil
		}
		return b.compare(nil, actions, plan)
	}
	rec := *b.ahead
	b.advance()
	return b.compare(&rec, actions, plan)
}

func (b *Backend) known(a scheduler.Action) error {
	switch a := a.(type) {
	case scheduler.Compute:
	case scheduler.Provision:
		if n, ok := b.most[a.Group]; !ok || a.Nodes < 0 || a.Nodes > n {
			return fmt.Errorf("group %s: %d nodes wanted, want no more than are offered", a.Group, a.Nodes)
		}
	case scheduler.Return:
		for _, id := range a.Nodes {
			if i, ok := b.nodes.Index(id); !ok || b.nodes.Nodes()[i].Tenure == cluster.Owned {
				return fmt.Errorf("node %s: given back, but it is not a rented or lent node that is up", id)
			}
		}
	default:
		if id := a.Topic().Job; !b.jobs[id] {
			return fmt.Errorf("job %s: %T of a job never submitted", id, a)
		}
	}
	return nil
}

func (b *Backend) recorded() bool {
	return b.ahead != nil && b.ahead.Round != nil && b.ahead.At == b.at()
}

func (b *Backend) begin(work policy.Work) {
	if b.recorded() && slices.ContainsFunc(b.ahead.Round.Actions, computes) {
		b.work = work
	} else {
		b.own = work
	}
}
