package local

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
)

// Intervals of unprompted observations, of unsettled and settled generations.
const (
	unsettledPoll = 200 * time.Millisecond
	settledPoll   = time.Second
)

// Execute starts and stops processes according to the committed plan until ctx is done.
func (b *Backend) Execute(ctx context.Context) error {
	return b.Repeat(ctx, unsettledPoll, b.executor().pass)
}

type executor struct{ b *Backend }

func (b *Backend) executor() *executor { return &executor{b} }

func (x *executor) pass() {
	for _, d := range x.due() {
		if d.hung {
			complain(d.Job, fmt.Errorf("start %d: its supervisor missed its deadline and is killed", d.Number))
			if err := supervisor.Kill(x.b.folders.Generation(d.Generation)); err != nil {
				complain(d.Job, err)
			}
		}
		o, err := statedir.Look(&x.b.folders, d.Generation, d.settled) // without the lock: it may take seconds
		if err != nil {
			complain(d.Job, err)
			continue
		}
		x.observed(o)
	}
	for _, s := range x.steps() {
		if err := s.do(); err != nil {
			complain(s.job, err)
		}
	}
}

type dueGeneration struct {
	statedir.Generation
	settled bool
	hung    bool // its supervisor is overdue
}

func (x *executor) due() []dueGeneration {
	x.b.Lock()
	defer x.b.Unlock()
	x.b.jobs.admit()
	now := time.Now()
	var all []dueGeneration
	for _, e := range x.b.jobs.Order {
		for _, r := range e.runs {
			settled := r.up && r.stop.IsZero()
			if settled && now.Sub(r.observed) < settledPoll {
				continue
			}
			r.observed = now
			all = append(all, dueGeneration{e.name(r), settled, r.hung(now)})
		}
	}
	return all
}

func (x *executor) observed(o *statedir.Observation) {
	x.b.Lock()
	defer x.b.Unlock()
	if e := x.b.jobs.ByID[o.Job]; e != nil {
		if r := e.run(o.Number); r != nil {
			x.b.jobs.observed(e, r, o)
		}
	}
}

type step struct {
	job job.ID
	do  func() error
}

// steps records the steps that it returns. A failed step resets its record, so it is returned again.
func (x *executor) steps() []step {
	x.b.Lock()
	defer x.b.Unlock()
	jobs := make([]jobState, len(x.b.jobs.Order))
	for i, e := range x.b.jobs.Order {
		jobs[i] = e.state()
	}
	stops, starts := nextSteps(jobs, x.b.o.Machine.Cores, time.Now())
	all := make([]step, 0, len(stops)+len(starts))
	for i := range stops {
		all = append(all, x.stop(&stops[i]))
	}
	for i := range starts {
		all = append(all, x.start(&starts[i]))
	}
	return all
}

func (x *executor) stop(s *stopStep) step {
	r := x.b.jobs.ByID[s.Job].run(s.Number)
	r.stop, r.why = time.Now().Add(x.b.o.Grace), s.Reason
	g, notice := s.Generation, supervisor.Notice{Deadline: r.stop, Reason: r.why}
	return step{g.Job, func() error {
		hook("stop: before the notice")
		err := supervisor.Stop(x.b.folders.Generation(g), notice)
		hook("stop: noticed")
		if err != nil { // such as a full disk
			x.b.Lock()
			r.stop = time.Time{}
			x.b.Unlock()
		}
		return err
	}}
}

func (x *executor) start(s *startStep) step {
	e := x.b.jobs.ByID[s.Job]
	e.runs = append(e.runs, &run{
		generation: e.Generation, slots: e.Held, allocation: e.Status.Allocation, cores: s.Cores, began: time.Now(), step: e.checkpointStep(),
	})
	e.Heard = time.Time{}
	x.b.jobs.notSilent(e)
	g, launch := s.Generation, x.b.launch(&e.Job, s.Cores)
	return step{g.Job, func() error {
		hook("start: before the supervisor")
		err := supervisor.Start(x.b.o.Supervisor, x.b.folders.Generation(g), launch)
		hook("start: supervised")
		if err != nil {
			x.b.Lock()
			e.notBefore = time.Now().Add(backoff)
			x.b.Unlock()
		}
		return err
	}}
}
