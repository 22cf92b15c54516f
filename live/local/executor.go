package local

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
)

// How often the executor observes a generation without being told that something has changed: one
// that is starting or stopping, and one that is settled.
const (
	unsettledPoll = 200 * time.Millisecond
	settledPoll   = time.Second
)

// Execute makes the processes equal to the committed plan until ctx is done. In each pass it
// observes what runs, compares it with what is committed, and takes every step that can be
// taken.
func (b *Backend) Execute(ctx context.Context) error {
	return b.Repeat(ctx, unsettledPoll, b.executor().pass)
}

// An executor is the part of a Backend that observes and changes processes.
type executor struct{ b *Backend }

func (b *Backend) executor() *executor { return &executor{b} }

// pass observes all generations that it is time to observe, and takes every step.
func (x *executor) pass() {
	for _, d := range x.due() {
		if d.hung {
			complain(d.Job, fmt.Errorf("start %d: its keeper has let its deadline pass, and is killed", d.Number))
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

// A dueGeneration is one that it is time to observe.
type dueGeneration struct {
	statedir.Generation
	settled bool // its workers have all started, and it is not to stop
	hung    bool // its supervisor should have killed it, and has not
}

// due returns the generations that it is time to observe.
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

// observed takes over an observation, if its generation is still of interest.
func (x *executor) observed(o *statedir.Observation) {
	x.b.Lock()
	defer x.b.Unlock()
	if e := x.b.jobs.ByID[o.Job]; e != nil {
		if r := e.run(o.Number); r != nil {
			x.b.jobs.observed(e, r, o)
		}
	}
}

// A step brings the processes of a job closer to the plan.
type step struct {
	job job.ID
	do  func() error
}

// steps returns the steps that can be taken now: first everything that must stop, then what can
// start. It records them in the table. A step that fails is recorded so, and is returned again.
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

// stop gives a generation notice.
func (x *executor) stop(s *stopStep) step {
	r := x.b.jobs.ByID[s.Job].run(s.Number)
	r.stop, r.why = time.Now().Add(x.b.o.Grace), s.Reason
	g, notice := s.Generation, supervisor.Notice{Deadline: r.stop, Reason: r.why}
	return step{g.Job, func() error {
		hook("stop: before the notice")
		err := supervisor.Stop(x.b.folders.Generation(g), notice)
		hook("stop: noticed")
		if err != nil { // on a full disk, say
			x.b.Lock()
			r.stop = time.Time{}
			x.b.Unlock()
		}
		return err
	}}
}

// start begins the planned generation of a job.
func (x *executor) start(s *startStep) step {
	e := x.b.jobs.ByID[s.Job]
	e.runs = append(e.runs, &run{
		generation: e.Generation, slots: e.Held, allocation: e.Status.Allocation, cores: s.Cores, began: time.Now(), step: e.checkpointStep(),
	})
	e.Heard = time.Time{}
	x.b.jobs.notSilent(e) // while the job starts nobody expects its agent to speak
	g, launch := s.Generation, x.b.launch(&e.Job, s.Cores)
	return step{g.Job, func() error {
		hook("start: before the supervisor")
		err := supervisor.Start(x.b.o.Supervisor, x.b.folders.Generation(g), launch)
		hook("start: supervised")
		if err != nil { // once more, but not at every pass
			x.b.Lock()
			e.NotBefore = time.Now().Add(backoff)
			x.b.Unlock()
		}
		return err
	}}
}
