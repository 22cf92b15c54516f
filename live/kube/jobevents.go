package kube

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

type jobEvents struct {
	o *jobstate.Options
	*driver.Feed
	table  *jobstate.Table
	writer *execute.Writer
}

func (w *jobEvents) lose(e *jobstate.Job, detail string) {
	if !e.Wants() {
		return
	}
	e.Move(jobstate.GiveUp)
	w.fail(e, detail)
}

func (w *jobEvents) refuse(e *jobstate.Job, why error) {
	if e.Wants() {
		w.lose(e, why.Error())
		return
	}
	w.fail(e, why.Error())
}

// A job that backs off is first described as unplannable, or the next plan could repeat the allocation.
func (w *jobEvents) fail(e *jobstate.Job, detail string) {
	e.Setback = detail
	e.Fail(time.Now())
	w.table.Lose(e, detail)
	w.describe(e)
}

func (w *jobEvents) end(e *jobstate.Job, outcome scheduler.Outcome, detail string) {
	if e.Ended() {
		return
	}
	e.Move(jobstate.End)
	w.table.Over[e.ID] = true
	w.table.Conclude(e, outcome, detail)
	driver.Wake(w.Work)
}

func (w *jobEvents) forget(e *jobstate.Job) {
	if e.Ended() && len(e.Live()) == 0 && !w.table.EndPending(e.ID) {
		w.table.Remove(e)
	}
}

func (w *jobEvents) refused(e *jobstate.Job, why string) {
	gpus, elastic := e.Made()*e.Parsed.PerWorker.GPUs, e.Spec.Adaptivity&job.GPUCount != 0 && !e.Spec.NonPreemptive
	suffices := elastic && gpus >= max(1, e.Spec.MinGPUs)
	if suffices {
		e.Limit = jobstate.Limit{GPUs: gpus, Why: why, Until: time.Now().Add(jobstate.LongBackoff)}
		w.describe(e)
	}
	if e.TrainsIn == e.Held.Generation {
		return
	}
	if !suffices {
		e.Failures = max(e.Failures, jobstate.Tries-1) // other jobs get the GPUs until a person changes something
	}
	w.lose(e, "its pods cannot be created: "+why)
}

func (w *jobEvents) spec(j *jobadapter.Job) *job.Spec {
	spec := *cmp.Or(j.Spec, j.Plain)
	spec.Queue, spec.Priority = w.o.Queue.Name, w.o.PriorityOf(j.PriorityClass)
	if w.o.Queue.Spec.Limits.DenyNonPreemptible {
		spec.NonPreemptive = false
	}
	if w.o.Mode() == v1alpha1.Admit {
		spec.NonPreemptive = true
	}
	return w.bounded(&spec)
}

func (w *jobEvents) bounded(spec *job.Spec) *job.Spec {
	most := w.o.MostGPUs(spec.User)
	if most == 0 || spec.MaxGPUs <= most {
		return spec
	}
	r := *spec
	r.MaxGPUs = max(most, r.GPUs)
	return &r
}

func (w *jobEvents) beyond(spec *job.Spec) bool {
	return spec != nil && w.o.MostGPUs(spec.User) > 0 && spec.GPUs > w.o.MostGPUs(spec.User)
}

// nowhere is the GPU type of jobs that cannot be planned now.
const nowhere = "(none: retried later)"

// Values from the job's program stay until it sends new ones.
func (w *jobEvents) describe(e *jobstate.Job) {
	spec, unfit := e.Spec, e.Parsed.Spec == nil || e.Parsed.OnHold || w.beyond(e.Parsed.Spec)
	if unfit && e.Wants() { // the old one stays
		return
	}
	if e.Parsed.Spec != nil {
		spec = e.Limited(w.bounded(e.Agent.Described(w.spec(e.Parsed), e)))
	}
	if e.Silent {
		spec = driver.Rigid(spec, e.Held.GPUs)
	}
	spec = w.located(e, spec, unfit)
	if !reflect.DeepEqual(spec, e.Spec) {
		e.Spec = spec
		w.Events.Emit(scheduler.Described{Spec: spec})
	}
}

// located returns a copy of spec for the nodes that kube-scheduler accepts. A job that holds GPUs may keep its type.
func (w *jobEvents) located(e *jobstate.Job, spec *job.Spec, beyond bool) *job.Spec {
	r := *spec
	r.Parts = e.Parts
	switch {
	case e.Wants() && e.Types == nil:
	case e.Wants() && slices.Contains(e.Types, e.Held.GPUType):
		r.GPUTypes = e.Types
	case e.Wants():
		r.GPUTypes = append(slices.Clone(e.Types), e.Held.GPUType)
	case beyond || e.Nowhere != "" || e.BacksOff(time.Now()):
		r.GPUTypes, r.GPUsPerReplica = []cluster.GPUType{nowhere}, nil
	case e.Types != nil:
		r.GPUTypes = e.Types
	}
	return &r
}

func (w *jobEvents) planner() *execute.Planner { return execute.NewPlanner(w.writer, w.table) }
