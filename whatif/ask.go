package whatif

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// A Question is what would be otherwise from now on: one of three things. Nothing is done.
type Question struct {
	Cancel job.ID // it is cancelled

	Nodes int             // so many more nodes
	Type  cluster.GPUType // like the first of this type

	Resize job.ID // it is stopped, and goes on with
	GPUs   int    // so many GPUs
}

// Validate returns an error unless exactly one thing is asked, in full.
func (q *Question) Validate() error {
	nodes, size := q.Nodes != 0 || q.Type != "", q.Resize != "" || q.GPUs != 0
	asked := 0
	for _, yes := range []bool{q.Cancel != "", nodes, size} {
		if yes {
			asked++
		}
	}
	switch {
	case asked != 1:
		return fmt.Errorf("%d things are asked, want one of: a job to cancel, nodes of a type, a job and its GPUs", asked)
	case nodes && (q.Type == "" || q.Nodes < 1 || q.Nodes > 1000):
		return fmt.Errorf("%d nodes of type %q, want 1 to 1000 of a type of the cluster", q.Nodes, q.Type)
	case size && (q.Resize == "" || q.GPUs < 1):
		return fmt.Errorf("job %q on %d GPUs, want a job and at least 1", q.Resize, q.GPUs)
	}
	return nil
}

// An Answer compares what becomes of jobs with what would, in the order of the snapshot. A job that is cancelled is not
// among them.
type Answer struct {
	Jobs []Shift
	// Of those whose end is known both times: how many end sooner, later, and at the same time, by the means of their guesses.
	Sooner, Later, Same int
	// Unknown are the others.
	Unknown int
	// Mean is by how much sooner the known ones end; negative: later.
	Mean time.Duration
}

// A Shift is when a job ends, in how long from now, by simulations, and when it would.
type Shift struct {
	Job           job.ID
	Before, After Guess
}

// Known reports whether both times are.
func (h *Shift) Known() bool { return certain(&h.Before) && certain(&h.After) }

// certain reports whether a time is known, in both simulations.
func certain(g *Guess) bool { return g.Why == Known && !g.Open }

// Sooner returns by how much sooner the job would end, by the middles of both guesses; negative: later.
func (h *Shift) Sooner() time.Duration { return middle(&h.Before) - middle(&h.After) }

func middle(g *Guess) time.Duration { return g.Early + (g.Late-g.Early)/2 }

// Ask simulates the state of a snapshot forward as it is and as it would be, as Ahead does, with the same options. In the
// first round both do what was decided. Errors: that of a question that cannot be asked of the snapshot, and those of Ahead.
func Ask(ctx context.Context, s *policy.Snapshot, o Options, q Question) (*Answer, error) {
	other, plan, err := q.of(s, o.Plan)
	if err != nil {
		return nil, fmt.Errorf("what if: %w", err)
	}
	before, err := Ahead(ctx, s, o)
	if err != nil {
		return nil, err
	}
	o.Plan = plan
	after, err := Ahead(ctx, other, o)
	if err != nil {
		return nil, err
	}
	return answer(before, after), nil
}

// of returns the snapshot, and the plan of its round, as they would be.
func (q *Question) of(s *policy.Snapshot, p *policy.Plan) (*policy.Snapshot, *policy.Plan, error) {
	if err := q.Validate(); err != nil {
		return nil, nil, err
	}
	switch {
	case q.Cancel != "":
		return without(s, p, q.Cancel)
	case q.Resize != "":
		return resized(s, p, q.Resize, q.GPUs)
	}
	other, err := with(s, q.Nodes, q.Type)
	return other, p, err
}

// index returns where a job is in a snapshot.
func index(s *policy.Snapshot, id job.ID) (int, error) {
	if i := s.Index(id); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("job %s is not there", id)
}

// without returns the same without a job.
func without(s *policy.Snapshot, p *policy.Plan, id job.ID) (*policy.Snapshot, *policy.Plan, error) {
	i, err := index(s, id)
	if err != nil {
		return nil, nil, err
	}
	other := *s
	other.Jobs = slices.Delete(slices.Clone(s.Jobs), i, i+1)
	return &other, changed(p, func(rows []policy.Decision) []policy.Decision { return slices.Delete(rows, i, i+1) }), nil
}

// resized returns the same with a job that asks for so many GPUs, no more and no fewer. If it has others it is stopped.
func resized(s *policy.Snapshot, p *policy.Plan, id job.ID, gpus int) (*policy.Snapshot, *policy.Plan, error) {
	i, err := index(s, id)
	if err != nil {
		return nil, nil, err
	}
	own, spec := *s.Jobs[i], *s.Jobs[i].Spec
	spec.GPUs, spec.MinGPUs, spec.MaxGPUs = gpus, gpus, gpus
	own.Spec = &spec
	other := *s
	other.Jobs = slices.Clone(s.Jobs)
	other.Jobs[i] = &own
	stop := func(rows []policy.Decision) []policy.Decision {
		if rows[i].Allocation.GPUs != gpus {
			rows[i] = policy.Decision{}
		}
		return rows
	}
	return &other, changed(p, stop), nil
}

// changed returns a plan with other rows; nil stays nil.
func changed(p *policy.Plan, of func([]policy.Decision) []policy.Decision) *policy.Plan {
	if p == nil {
		return nil
	}
	other := *p
	other.Jobs = of(slices.Clone(p.Jobs))
	return &other
}

// with returns a snapshot with more nodes, each like the first of its type.
func with(s *policy.Snapshot, more int, t cluster.GPUType) (*policy.Snapshot, error) {
	nodes := slices.Clone(s.Cluster.Nodes())
	i := slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.GPUType == t })
	if i < 0 {
		return nil, fmt.Errorf("no node has GPUs of type %s", t)
	}
	for k := range more {
		n := nodes[i]
		n.ID = cluster.NodeID(fmt.Sprintf("what-if-%d", k+1))
		nodes = append(nodes, n)
	}
	other := *s
	var err error
	if other.Cluster, err = cluster.New(nodes); err != nil {
		return nil, errors.Join(errors.New("with more nodes"), err)
	}
	return &other, nil
}

// answer returns the jobs of both, and sums up.
func answer(before, after []Times) *Answer {
	ends := make(map[job.ID]Guess, len(before))
	for i := range before {
		ends[before[i].Job] = before[i].End
	}
	a := &Answer{Jobs: make([]Shift, len(after))}
	var sum time.Duration
	for i := range after {
		h := Shift{after[i].Job, ends[after[i].Job], after[i].End}
		a.Jobs[i] = h
		if !h.Known() {
			a.Unknown++
			continue
		}
		sum += h.Sooner()
		switch by := h.Sooner(); {
		case by > 0:
			a.Sooner++
		case by < 0:
			a.Later++
		default:
			a.Same++
		}
	}
	if n := len(after) - a.Unknown; n > 0 {
		a.Mean = sum / time.Duration(n)
	}
	return a
}

// Ask answers a question about the state after the round.
func (r *Round) Ask(ctx context.Context, q Question) (*Answer, error) {
	s, o := r.ahead.State()
	return Ask(ctx, s, o, q)
}
