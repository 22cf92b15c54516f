package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A Question asks for the effect of one change: a job is cancelled, nodes are added, or a job gets another size.
type Question struct {
	Cancel job.ID

	Nodes int             // number of additional owned nodes
	Type  cluster.GPUType // GPU type of these nodes, which are like its largest node

	Resize job.ID // the job gets a fixed size
	GPUs   int    // the size; a job with another size is stopped and waits
}

// Validate returns an error unless the question describes exactly one complete change.
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
		return fmt.Errorf("%d changes, want exactly one of: a job to cancel, nodes of a type, a job and its GPUs", asked)
	case nodes && (q.Type == "" || q.Nodes < 1 || q.Nodes > 1000):
		return fmt.Errorf("%d nodes of type %q, want 1 to 1000 of a type of the cluster", q.Nodes, q.Type)
	case size && (q.Resize == "" || q.GPUs < 1):
		return fmt.Errorf("job %q on %d GPUs, want a job and at least 1", q.Resize, q.GPUs)
	}
	return nil
}

// An Answer compares the starts and ends of jobs without and with the change. It omits a cancelled job.
type Answer struct {
	From time.Time // time of the snapshot, from which all times count
	Jobs []Shift
	// Sooner, Later and Same count the jobs that end sooner, later and at the same time with the change, among jobs
	// whose two ends are known.
	Sooner, Later, Same int
	// Unknown counts the jobs with an unknown end.
	Unknown int
	// Mean is the mean time saved by jobs whose two ends are known; negative if they end later.
	Mean time.Duration
	// StartSooner and StartLater count the waiting jobs that get GPUs sooner and later with the change, among those
	// that get GPUs in both cases.
	StartSooner, StartLater int
}

// A Shift has the start and end of one job without the change and with it.
type Shift struct {
	Job                job.ID
	Before, After      Guess
	Starts, WouldStart Guess
}

// known reports whether the job's end is known without and with the change.
func (h *Shift) known() bool { return certain(&h.Before) && certain(&h.After) }

// StartsSooner returns how much sooner the job starts with the change, between the midpoints of the two predictions; 0
// if one is unknown.
func (h *Shift) StartsSooner() time.Duration {
	if !certain(&h.Starts) || !certain(&h.WouldStart) {
		return 0
	}
	return middle(&h.Starts) - middle(&h.WouldStart)
}

func certain(g *Guess) bool { return g.Why == Known && !g.Open }

// Sooner returns how much sooner the job ends with the change, between the midpoints of the two predictions; negative
// if later.
func (h *Shift) Sooner() time.Duration { return middle(&h.Before) - middle(&h.After) }

func middle(g *Guess) time.Duration { return g.Early + (g.Late-g.Early)/2 }

func (h *Shift) changes() time.Duration {
	by := h.StartsSooner().Abs()
	if h.known() {
		by = max(by, h.Sooner().Abs())
	}
	return by
}

// Keep reduces the answer to the n jobs whose times change most. The counts and the mean stay the same.
func (a *Answer) Keep(n int) {
	all := slices.DeleteFunc(slices.Clone(a.Jobs), func(h Shift) bool { return h.changes() == 0 })
	slices.SortStableFunc(all, func(a, b Shift) int { return cmp.Compare(b.changes(), a.changes()) })
	a.Jobs = all[:min(len(all), n)]
}

// Ask predicts the starts and ends of jobs without and with the change, each as in Ahead. Both predictions start with
// the decisions of the round. If ctx has a deadline, each gets half of the time.
func Ask(ctx context.Context, s *policy.Snapshot, o Options, q Question) (*Answer, error) {
	other, plan, err := q.of(s, o.Plan)
	if err != nil {
		return nil, fmt.Errorf("what if: %w", err)
	}
	soon, cancel := half(ctx)
	defer cancel()
	before, err := Ahead(soon, s, o)
	if err != nil {
		return nil, err
	}
	o.Plan = plan
	after, err := Ahead(ctx, other, o)
	if err != nil {
		return nil, err
	}
	found := answer(before, after)
	found.From = s.Now
	return found, nil
}

func (q *Question) of(s *policy.Snapshot, p *policy.Plan) (*policy.Snapshot, *policy.Plan, error) {
	if err := q.Validate(); err != nil {
		return nil, nil, err
	}
	if q.Type != "" {
		other, err := q.grown(s)
		return other, p, err
	}
	i := s.Index(cmp.Or(q.Cancel, q.Resize))
	switch {
	case i < 0:
		return nil, nil, fmt.Errorf("%s: not in the last round", printable.Named("job", string(cmp.Or(q.Cancel, q.Resize))))
	case q.Cancel != "":
		return counterfactual.Without(s, []job.ID{q.Cancel}), changed(p, func(rows []policy.Decision) []policy.Decision { return slices.Delete(rows, i, i+1) }), nil
	}
	return q.resized(s, p, i)
}

func (q *Question) resized(s *policy.Snapshot, p *policy.Plan, i int) (*policy.Snapshot, *policy.Plan, error) {
	other := counterfactual.With(s, i, func(spec *job.Spec) {
		spec.GPUs, spec.MinGPUs, spec.MaxGPUs, spec.Reservation = q.GPUs, q.GPUs, q.GPUs, cluster.Configuration{}
	})
	nodes, err := owned(s.Cluster)
	if err == nil {
		err = sim.Fits(nodes, other.Jobs[i].Spec)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", printable.Named("job", string(q.Resize)), err)
	}
	has := s.Jobs[i].Allocation.GPUs
	if p != nil {
		has = p.Jobs[i].Allocation.GPUs
	}
	if has == q.GPUs {
		return other, p, nil
	}
	other.Jobs[i] = other.Jobs[i].Stopped(s.Now)
	return other, changed(p, func(rows []policy.Decision) []policy.Decision { rows[i] = policy.Decision{}; return rows }), nil
}

func changed(p *policy.Plan, of func([]policy.Decision) []policy.Decision) *policy.Plan {
	if p == nil {
		return nil
	}
	other := *p
	other.Jobs = of(slices.Clone(p.Jobs))
	return &other
}

func (q *Question) grown(s *policy.Snapshot) (*policy.Snapshot, error) {
	t, known := s.Cluster.Type(q.Type)
	if !known {
		return nil, fmt.Errorf("no node has GPUs of type %s", q.Type)
	}
	other := counterfactual.Grown(s, &t, q.Nodes*t.PerNode)
	if other == nil {
		return nil, fmt.Errorf("%d more nodes of type %s make no cluster", q.Nodes, q.Type)
	}
	return other, nil
}

func answer(before, after []Times) *Answer {
	were := make(map[job.ID]*Times, len(before))
	for i := range before {
		were[before[i].Job] = &before[i]
	}
	a := &Answer{Jobs: make([]Shift, len(after))}
	var sum time.Duration
	for i := range after {
		was := were[after[i].Job]
		h := Shift{after[i].Job, was.End, after[i].End, was.Start, after[i].Start}
		a.Jobs[i] = h
		a.count(&h)
		if h.known() {
			sum += h.Sooner()
		}
	}
	if n := len(after) - a.Unknown; n > 0 {
		a.Mean = sum / time.Duration(n)
	}
	return a
}

func (a *Answer) count(h *Shift) {
	end, start := h.Sooner(), h.StartsSooner()
	switch {
	case !h.known():
		a.Unknown++
	case end > 0:
		a.Sooner++
	case end < 0:
		a.Later++
	default:
		a.Same++
	}
	switch {
	case start > 0:
		a.StartSooner++
	case start < 0:
		a.StartLater++
	}
}

// Ask answers question q from the state after the last round.
func (l *Predictor) Ask(ctx context.Context, q Question) (*Answer, error) {
	s, o := l.State()
	if s == nil {
		return nil, errors.New("what if: no round yet")
	}
	return Ask(ctx, s, o, q)
}

// Ask answers question q from the state after the round.
func (r *Round) Ask(ctx context.Context, q Question) (*Answer, error) { return r.ahead.Ask(ctx, q) }
