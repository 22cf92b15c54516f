package kube

import (
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

type agent struct {
	w       *Backend
	e       *jobstate.Job
	planned bool
}

func (w *Backend) agent(id job.ID, generation int) (driver.Program, *driver.Start, error) {
	e := w.table.ByID[id]
	switch {
	case e == nil || e.Ended():
		return nil, nil, agentapi.ErrUnknown
	case e.Parsed.Generation != int64(generation):
		return nil, nil, driver.OtherGeneration(generation, int(e.Parsed.Generation))
	}
	planned := e.Wants() && int64(generation) == e.Held.Generation
	s := &driver.Start{
		Took: &e.Starts, Unsettled: !e.Wants(),
		Batch: e.Held.Batch, Allocation: e.Held.Allocation, Type: e.Held.GPUType, GPUs: e.Held.GPUs,
	}
	if !planned {
		s.Notice = &agentapi.Notice{Deadline: float64(time.Now().Add(e.Parsed.Grace).Unix()), Reason: "its GPUs go to other jobs, or it gets other GPUs"}
		return agent{w, e, planned}, s, nil
	}
	s.Least, s.Most = e.Workers(), e.Held.GPUs // its pods, or one program per GPU
	if last := e.Agent.Hello; !e.Restored() && (last == nil || last.Generation != generation) {
		s.Planned = e.Since
	}
	return agent{w, e, planned}, s, nil
}

func (a agent) Hello(h *agentapi.Hello) (*job.Spec, error) {
	a.e.Agent.SetHello(h, a.e)
	if a.w.messageReceived(a.e); a.planned {
		a.w.trains(a.e, restored(h))
	}
	return a.e.Spec, nil
}

func restored(h *agentapi.Hello) *float64 {
	if h.Restored == nil {
		return new(float64)
	}
	return &h.Restored.Progress
}

func (w *Backend) messageReceived(e *jobstate.Job) {
	e.Agent.Reporting, e.Silent, e.Heard = true, false, time.Now()
	w.describe(e)
}

func (a agent) Report(r *agentapi.Report) error {
	w, e := a.w, a.e
	if w.messageReceived(e); a.planned {
		report := r.Job(e.ID, e.Held.Configuration, e.Held.CPUs, e.Held.Memory)
		w.background.unsaved = e.Keep(&report) || w.background.unsaved
		w.Events.Emit(scheduler.Reported{Report: report})
	}
	return nil
}

func (a agent) Checkpoint(*agentapi.Checkpoint) error {
	a.w.messageReceived(a.e)
	a.e.Failures = 0
	return nil
}

// The caller holds the lock.
func (w *Backend) markSilent() {
	for _, e := range w.table.Order {
		if e.Ended() || e.Silent || !e.Agent.Reporting || e.UpSince.IsZero() || min(time.Since(e.Heard), time.Since(e.UpSince)) < w.o.Silence {
			continue
		}
		e.Silent = true
		w.describe(e)
	}
}

// Round implements scheduler.Observer.
func (w *Backend) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	w.Feed.Round(s, p, acts)
	w.Lock()
	defer w.Unlock()
	w.markSilent()
}
