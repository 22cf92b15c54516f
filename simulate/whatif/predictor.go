package whatif

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/explain"
)

// Patience is the maximum time for which Look waits or simulates.
const Patience = time.Second

// A Range is a predicted interval for the time until something happens. It contains the true time with the probability
// calibration.Share (0.8).
type Range struct {
	calibration.Range
	Open bool // the event may come after Late, because the simulation ended there
	Why  Why  // Known, or the reason why there is no range; the times are then zero
}

// An ETA predicts when a job gets GPUs and when it completes. Start is zero if the job has GPUs.
type ETA struct {
	Job        job.ID
	Start, End Range
}

// Unreliable returns why the predicted end is unreliable, or "": too few of its last estimates were right, or the start
// is unreliable and no estimate of an end has been tested yet.
func (e *ETA) Unreliable() string {
	if e.End.Of == 0 && e.Start.Unreliable() != "" {
		return "unreliable: it depends on the start"
	}
	return e.End.Unreliable()
}

// Expected returns start and end as estimates to print at the time passed after the prediction was made.
func (e *ETA) Expected(passed time.Duration) (start, end *explain.Expected) {
	start, end = e.Start.expected(passed), e.End.expected(passed)
	if why := e.Unreliable(); why != "" && e.End.Why == Known {
		end = &explain.Expected{Unknown: why, Held: e.End.Held, Of: e.End.Of}
	}
	return start, end
}

func (r *Range) expected(passed time.Duration) *explain.Expected {
	if r.Why != Known {
		return &explain.Expected{Unknown: r.Why.String()}
	}
	return explain.ExpectedIn(&r.Range, r.Open, passed)
}

// A Predictor predicts when jobs start and end, by simulation from the state after the last round. The errors of its
// earlier predictions determine the width of its ranges (package calibration). It is a scheduler.Observer and safe for
// concurrent use.
type Predictor struct {
	// Explained, if not nil, is called after each new prediction, with the time of its snapshot. Set it before the
	// first call of Look.
	Explained func(time.Time)
	// Decided, if not nil, replaces the field Decided of Options. Set it before the first call of Look.
	Decided Decided
	options Options
	stating func(*policy.Snapshot, calibration.Phase, job.ID, Guess) // may be nil; called before a guess is recorded

	one   chan struct{}    // has an element while somebody simulates
	tried *policy.Snapshot // from which LookFor simulated last, with or without success
	spent time.Duration    // limit of that simulation if it was reached, else unlimited

	mu     sync.Mutex
	learn  *Learner
	record *calibration.Record // nil: no round yet
	last   *policy.Snapshot    // nil: no round yet
	plan   *policy.Plan        // for last
	ended  []job.ID            // since last
	came   []*job.Spec         // submitted since last
	etas   []ETA
	of     *policy.Snapshot // of etas
	within time.Duration    // limit of the simulation of etas if it was reached, else unlimited
}

const unlimited = time.Duration(math.MaxInt64)

// NewPredictor returns a Predictor for a run with scheduler options so and GPUs of these types. fresh makes the run's
// policy and placer.
func NewPredictor(fresh func() (policy.Policy, placement.Placer, error), so scheduler.Options, types []cluster.TypeInfo) *Predictor {
	o := DefaultOptions(fresh)
	so.Estimate.Types = types
	o.Scheduler = so
	return &Predictor{options: o, one: make(chan struct{}, 1), learn: learnerOf(so, types)}
}

// Event implements scheduler.Observer.
func (l *Predictor) Event(now time.Time, ev scheduler.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn.Event(now, ev)
	if e, ok := ev.(scheduler.Submitted); ok {
		l.came = append(l.came, e.Spec)
	}
	if e, ok := ev.(scheduler.Exited); ok && l.record != nil && e.Outcome != scheduler.Lost {
		l.record.Ended(now, e.Job, e.Outcome == scheduler.Done)
		l.ended = append(l.ended, e.Job)
	}
}

// Round implements scheduler.Observer.
func (l *Predictor) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn.Round(s, p, acts)
	l.last, l.plan, l.ended, l.came = s, p, nil, nil
	if l.record == nil {
		l.record = calibration.New(s.Length)
	}
	for _, a := range acts {
		if r, ok := a.(scheduler.Run); ok {
			l.record.Started(s.Now, r.Job)
		}
	}
}

// State returns the snapshot of the last round, and the options for Ahead; nil before the first round.
func (l *Predictor) State() (*policy.Snapshot, Options) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.options
	if l.last != nil {
		o.Measured, o.Between = l.learn.Measured(), l.learn.Between(l.last.Now)
		o.Decided, o.Plan = l.Decided, l.plan
	}
	return l.last, o
}

// Last returns the snapshot and the plan of the last round; nil before the first round.
func (l *Predictor) Last() (*policy.Snapshot, *policy.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.plan
}

// Ended returns the jobs that have ended since the last round.
func (l *Predictor) Ended() []job.ID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ended)
}

// Look returns when the jobs of the last round start and end, and the time of that round. It simulates at most once a
// round. After Patience it returns an earlier, partial or nil prediction.
func (l *Predictor) Look(ctx context.Context) (map[job.ID]ETA, time.Time) {
	soon, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	return l.LookFor(soon)
}

// LookFor is Look, but waits until ctx ends instead of Patience. If an earlier simulation of the same round was stopped
// too soon, LookFor repeats it if it has more than twice as much time.
func (l *Predictor) LookFor(ctx context.Context) (map[job.ID]ETA, time.Time) {
	select {
	case l.one <- struct{}{}:
		l.simulate(ctx)
		<-l.one
	case <-ctx.Done():
	}
	return l.known()
}

func (l *Predictor) simulate(ctx context.Context) {
	s, o := l.State()
	limit := unlimited
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline)
	}
	if s == nil || ctx.Err() != nil || l.tried == s && limit/2 <= l.spent {
		return
	}
	found, err := Ahead(ctx, s, o)
	switch {
	case ctx.Err() == nil:
		limit = unlimited
	case !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return
	}
	l.tried, l.spent = s, limit
	if err != nil || !l.adopt(s, found, limit) {
		return
	}
	if l.Explained != nil {
		l.Explained(s.Now)
	}
}

func (l *Predictor) adopt(s *policy.Snapshot, found []Times, limit time.Duration) bool {
	l.mu.Lock()
	worse := l.of != nil && limit < l.within/2
	l.mu.Unlock()
	if worse {
		return false
	}
	etas := l.ranges(s, found)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.etas, l.of, l.within = etas, s, limit
	return true
}

func (l *Predictor) known() (map[job.ID]ETA, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		return nil, time.Time{}
	}
	all := make(map[job.ID]ETA, len(l.etas))
	for _, e := range l.etas {
		all[e.Job] = e
	}
	for _, j := range l.last.Jobs {
		if _, ok := all[j.ID]; ok {
			continue
		}
		e := ETA{Job: j.ID, End: Range{Why: TooLong}}
		if !j.Holding() {
			e.Start.Why = TooLong
		}
		all[j.ID] = e
	}
	return all, l.of.Now
}

func (l *Predictor) ranges(s *policy.Snapshot, found []Times) []ETA {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]ETA, len(found))
	for i, f := range found {
		start, given := f.Start, s.Jobs[i].Holding()
		if l.last == s {
			given = !l.plan.Jobs[i].Allocation.IsZero()
		}
		if s.Jobs[i].Holding() { // the plan has taken its GPUs
			start = f.Next
		}
		record := l.last == s && l.learn.jobs[f.Job] != nil
		end, run := calibration.RunningEnd, time.Duration(0)
		if !given {
			end, run = calibration.WaitingEnd, runs(start, f.End)
			all[i].Start = l.calibrate(s, calibration.Start, f.Job, start, Range{}, 0, record)
		}
		all[i].Job, all[i].End = f.Job, l.calibrate(s, end, f.Job, f.End, all[i].Start, run, record)
	}
	return all
}

func runs(start, end Guess) time.Duration {
	if start.Why != Known || end.Why != Known {
		return 0
	}
	return max(0, min(end.Early-start.Early, end.Late-start.Late))
}

// calibrate returns the range of a guess about a job, at or after the range before if that is known.
func (l *Predictor) calibrate(s *policy.Snapshot, p calibration.Phase, id job.ID, g Guess, before Range, run time.Duration, record bool) Range {
	if record && l.stating != nil {
		l.stating(s, p, id, g)
	}
	if g.Why != Known {
		return Range{Why: g.Why}
	}
	r := l.record.Range(s.Now, p, g.Guess)
	kept := g.keep(&r, s.Length)
	if before.Why == Known {
		r = notBefore(r, before.Range, run)
	}
	if record {
		l.record.State(s.Now, id, p, g.Guess, r)
	}
	return Range{Range: r, Open: g.Open && !kept}
}

// keep ends a range at the time that the policy promised, and reports whether it did. It does if only new jobs
// could delay the start until then.
func (g *Guess) keep(r *calibration.Range, round time.Duration) bool {
	delayed := g.Open || r.Late < g.By && g.Late-g.Early >= round
	if g.By == 0 || !delayed {
		return false
	}
	r.Late = g.By
	r.Early, r.Likely = min(r.Early, r.Late), min(r.Likely, r.Late)
	return true
}

// notBefore raises r, the range of a job's end, so that it agrees with before, the range of its start. run is the shortest
// predicted time between them. The errors of the two ranges are learned separately, so they could contradict each other.
func notBefore(r, before calibration.Range, run time.Duration) calibration.Range {
	r.Early, r.Likely = max(r.Early, before.Early), max(r.Likely, before.Likely+run)
	r.Late = max(r.Late, before.Late+run)
	return r
}
