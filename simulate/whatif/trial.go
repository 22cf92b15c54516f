package whatif

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A Trial predicts what would happen to a job if it were submitted now.
type Trial struct {
	From   time.Time // time of the last round, from which Start counts
	Round  time.Duration
	Passed time.Duration          // from the last round to now
	Never  string                 // reason why the cluster can never run the job; if not empty, the fields below are zero
	Now    bool                   // it gets GPUs in the next round
	Start  Range                  // time until it gets GPUs
	Gets   cluster.Allocation     // GPUs at its start; zero: the simulation ended before
	Price  float64                // price of one of these GPUs; 0: the policy has no prices
	Helps  *counterfactual.Change // change that would start it in the next round; nil: unknown, or it starts then anyway
	Others int                    // jobs that already wait
}

const triedID job.ID = "(this job)"

// Try simulates from the state after the last round with one more job, spec, submitted now. If the job has to wait, d
// searches for a change with which the last round would have given it GPUs, and stores it in Trial.Helps; if d is nil,
// it does not search. If ctx has a deadline, simulation and search get half of the time each.
func (l *Predictor) Try(ctx context.Context, now time.Time, spec *job.Spec, d counterfactual.Decider) (*Trial, error) {
	s, plan, o := l.withJob(now, spec)
	if s == nil {
		return nil, errors.New("try: no round yet")
	}
	t := &Trial{From: s.Now, Round: s.Length, Passed: max(0, now.Sub(s.Now))}
	nodes, err := owned(s.Cluster)
	if err != nil {
		return nil, err
	}
	row := s.Jobs[len(s.Jobs)-1]
	if err := sim.Fits(nodes, row.Spec); err != nil {
		t.Never = strings.TrimPrefix(err.Error(), "job "+string(triedID)+": ")
		return t, nil
	}
	for i, j := range s.Jobs[:len(s.Jobs)-1] {
		if !j.Holding() && plan.Jobs[i].Allocation.IsZero() {
			t.Others++
		}
	}
	if err := t.simulate(ctx, l, s, o); err != nil {
		return nil, err
	}
	if !t.Now && d != nil {
		t.search(ctx, s, plan, d)
	}
	return t, nil
}

func (t *Trial) simulate(ctx context.Context, l *Predictor, s *policy.Snapshot, o Options) error {
	soon, cancel := half(ctx)
	defer cancel()
	last := len(s.Jobs) - 1
	found, outcomes, err := ahead(soon, s, o)
	if err != nil {
		return err
	}
	f := outcomes[s.Jobs[last].ID]
	t.Gets, t.Price = f.got, f.price
	t.Now = f.start >= 0 && f.start <= s.Length+soonest
	l.mu.Lock()
	defer l.mu.Unlock()
	t.Start = l.calibrate(s, calibration.Start, triedID, found[last].Start, Range{}, 0, false)
	return nil
}

func (t *Trial) search(ctx context.Context, s *policy.Snapshot, p *policy.Plan, d counterfactual.Decider) {
	c, err := counterfactual.Find(ctx, s, p, s.Jobs[len(s.Jobs)-1].ID, d, nil)
	if err == nil && c.Kind != counterfactual.NoChange {
		t.Helps = c
	}
}

// withJob returns the last snapshot without the jobs that ended since and with those that were submitted since, the
// job on trial last, and the plan and options for it.
func (l *Predictor) withJob(now time.Time, spec *job.Spec) (*policy.Snapshot, *policy.Plan, Options) {
	last, o := l.State()
	if last == nil {
		return nil, nil, o
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, plan := counterfactual.Remaining(last, l.plan, l.ended)
	then, decisions := *s, *plan
	then.Jobs, decisions.Jobs = slices.Clone(s.Jobs), slices.Clone(plan.Jobs)
	own := *spec
	own.ID = triedID
	for _, spec := range append(slices.Clone(l.came), &own) {
		at := now
		if j := l.learn.jobs[spec.ID]; j != nil {
			at = j.came
		}
		row, m := l.learn.expected(at, spec, o.Scheduler.Profile)
		then.Jobs, decisions.Jobs = append(then.Jobs, row), append(decisions.Jobs, policy.Decision{})
		if spec == &own {
			o.Measured[own.ID] = m
		}
	}
	o.Plan, o.Awaited = &decisions, []job.ID{own.ID}
	return &then, &decisions, o
}

// expected returns the row of a job that is submitted at a time, and what its class shows about it. If jobs are
// profiled first, the row is of the time after that, and has the speed of the class.
func (l *Learner) expected(at time.Time, spec *job.Spec, profile bool) (*policy.Job, Measured) {
	c := l.classes[spec.Class]
	if profile {
		at = at.Add(l.profiling(c))
	}
	row := &policy.Job{Spec: spec, Status: job.Status{Phase: job.Waiting, Submitted: at, Since: at}}
	belief := estimate.New(spec, &l.o)
	if c != nil { // so the pool has its class, and does not change
		belief = l.pool.New(spec)
	}
	model, limits := belief.Model()
	if model == nil && c != nil {
		belief = c.furthest.belief
		model, limits = belief.Model()
	}
	switch {
	case model != nil:
		row.Perf, row.Limits, row.Sensitivity = model, limits, belief.Sensitivity()
	case spec.Timed:
		row.Perf = perf.ByDuration{Spec: spec}
	}
	return row, Measured{Delay: c.usual(), pieces: c.coming(&learned{spec: spec}), remaining: c.remaining(0)}
}

// Try is Predictor.Try for the state after this round.
func (r *Round) Try(ctx context.Context, spec *job.Spec) (*Trial, error) {
	return r.ahead.Try(ctx, r.snapshot.Now.Add(r.passed), spec, r.decider)
}
