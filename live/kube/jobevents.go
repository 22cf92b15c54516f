package kube

import (
	"cmp"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/claims"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/phase"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// jobEvents turns what happens to jobs into events for the scheduler.
type jobEvents struct {
	o *config.Options
	*driver.Feed
	table  *jobstate.Table
	writer *execute.Writer
}

// lose reports that a job has lost its GPUs. The job may be started again after a delay.
func (w *jobEvents) lose(e *jobstate.Job, detail string) {
	if !e.Wants() {
		return
	}
	e.Move(phase.GiveUp)
	w.fail(e, detail)
}

// refuse reports that a job cannot be given what was planned. It does so even if the job holds
// nothing, because otherwise the scheduler would believe that the job has it.
func (w *jobEvents) refuse(e *jobstate.Job, why error) {
	if e.Wants() {
		w.lose(e, why.Error())
		return
	}
	w.fail(e, why.Error())
}

// fail reports that a job has lost everything. If the job backs off, fail also describes it as one
// for which nothing can be planned, before the next plan could give it the same again.
func (w *jobEvents) fail(e *jobstate.Job, detail string) {
	e.Setback = detail
	e.Fail(time.Now())
	w.Events.Emit(scheduler.Exited{Job: e.ID(), Outcome: scheduler.Lost, Detail: detail})
	w.describe(e)
}

// end ends a job for good.
func (w *jobEvents) end(e *jobstate.Job, outcome scheduler.Outcome, detail string) {
	if e.Ended() {
		return
	}
	e.Move(phase.End)
	w.table.Over[e.ID()] = true
	w.Events.Emit(scheduler.Exited{Job: e.ID(), Outcome: outcome, Detail: detail})
	driver.Wake(w.Work)
}

// forget removes a job that has ended and has no pods, once the scheduler plans nothing for it.
func (w *jobEvents) forget(e *jobstate.Job) {
	unheard := func(ev scheduler.Event) bool {
		exit, ok := ev.(scheduler.Exited)
		return ok && exit.Job == e.ID()
	}
	if !e.Ended() || len(e.Live()) > 0 || w.Events.Any(unheard) {
		return
	}
	delete(w.table.ByID, e.ID())
	w.table.Order = slices.DeleteFunc(w.table.Order, func(o *jobstate.Job) bool { return o == e })
	w.Events.Wake()
}

// entry returns a job that has not ended. The caller holds the lock.
func (w *jobEvents) entry(id job.ID) (*jobstate.Job, error) {
	e := w.table.ByID[id]
	if e == nil {
		return nil, fmt.Errorf("job %s: no such job is live", id)
	}
	return e, nil
}

// refused handles that pods of a job cannot be created. A job that does not train yet loses its
// GPUs. A job that can run with the pods that exist gets no more GPUs than these for a time.
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
		e.Failures = max(e.Failures, jobstate.Tries-1) // this will not pass by itself: other jobs get the GPUs at once
	}
	w.lose(e, "its pods cannot be made: "+why)
}

// takeJob updates a job by what was observed of it.
func (w *jobEvents) takeJob(s *observe.Observation, f *observe.ObservedJob) {
	id := job.ID(f.Parsed.UID)
	e := w.table.ByID[id]
	if e == nil {
		if e = w.enter(s, f); e == nil {
			return
		}
	}
	if f.Parsed.OptOut { // its pods no longer belong to this scheduler
		e.Pods, e.Helpers, e.StaleSince = nil, nil, time.Time{}
		w.end(e, scheduler.Cancelled, "it has opted out")
		return
	}
	pods := s.Pods[f.Parsed.UID]
	if w.unseen(f, pods) {
		if !e.Stale() {
			e.StaleSince = time.Now()
		}
		return
	}
	e.StaleSince = time.Time{}
	e.Object, e.Parsed, e.Pods, e.Helpers = f.Object, f.Parsed, pods, s.Helpers[f.Parsed.UID]
	if e.Ending.IsZero() && e.Done() > 0 {
		e.Ending = time.Now()
	}
	if e.Late != nil && f.Object.Meta().GetAnnotations()[v1alpha1.Epoch] == strconv.FormatInt(w.table.Plan.Spec.Epoch, 10) {
		e.Late = nil
	}
	switch {
	case e.Ended():
	case f.Parsed.Ended != nil:
		w.end(e, f.Parsed.Ended.Outcome, f.Parsed.Ended.Detail)
	default:
		if err := e.WholeWorkers(&e.Held); err != nil { // its workers ask for other GPUs than when it was planned
			w.lose(e, err.Error())
		}
		w.describe(e)
		w.watch(e)
	}
}

// unseen reports whether the watches do not yet show something that was written to a job.
func (w *jobEvents) unseen(f *observe.ObservedJob, pods []*corev1.Pod) bool {
	if w.writer.Unseen[types.UID(f.Parsed.UID)] > 0 {
		return true
	}
	return slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return w.writer.Unseen[p.UID] > 0 })
}

// enter adds a job that was not known. It returns nil if the job must not be scheduled here.
func (w *jobEvents) enter(s *observe.Observation, f *observe.ObservedJob) *jobstate.Job {
	id := job.ID(f.Parsed.UID)
	if w.table.Over[id] || f.Parsed.Ended != nil || !s.Ours[f.Parsed.UID] {
		return nil
	}
	e := &jobstate.Job{Adapter: f.Adapter, Object: f.Object, Parsed: f.Parsed, Spec: w.spec(f.Parsed), Held: jobstate.Grant{Generation: f.Parsed.Generation}}
	e.Since = time.Now()
	e.Begun, e.CompleteAt = e.Since, e.Since // pods that are starting have their time from now on
	w.table.ByID[id] = e
	w.table.Order = append(w.table.Order, e)
	if old, known := w.past(s, f); known {
		delete(w.table.Past, id)
		old.Restore(e)
		e.Spec = w.bounded(e.Agent.Described(e.Spec, e))
		if e.Parsed.Spec == nil || w.beyond(e.Spec) { // it runs, and what it asks for is no more to be had: it keeps what it holds
			e.Spec = jobstate.Rigid(e.Spec, e)
		}
		if e.Node() != "" && !e.Started() {
			e.Late = e.Held.Placement
		}
		w.Events.Emit(scheduler.Restored{Spec: e.Spec, Status: e.Status, Batch: e.Held.Batch, Reports: slices.Clone(e.Reports)})
		return e
	}
	w.Events.Emit(scheduler.Submitted{Spec: e.Spec})
	return e
}

// past returns what is known of a job from before this leader: what the Plan says or, if the job runs and the Plan does
// not know that, what the job and its pods carry.
func (w *jobEvents) past(s *observe.Observation, f *observe.ObservedJob) (jobstate.Past, bool) {
	old, known := w.table.Past[job.ID(f.Parsed.UID)]
	if known && old.Allocation.Generation >= f.Parsed.Generation {
		return old, true
	}
	now, runs := jobstate.Adopted(f.Parsed, s.Pods[f.Parsed.UID], s.TypeOf)
	if !runs {
		return old, known
	}
	w.o.Log.Warn("a running job is taken over that the Plan does not have", "queue", w.o.Queue.Name, "job", f.Parsed.Namespace+"/"+f.Parsed.Name, "gpus", now.Allocation.GPUs)
	return now.With(old), true
}

// spec returns the specification of a job for the scheduler. If the queue's mode does not change
// jobs that have started, such a job keeps what it holds.
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

// bounded returns a specification with no more GPUs than the queue allows a job.
func (w *jobEvents) bounded(spec *job.Spec) *job.Spec {
	most := w.o.MostGPUs(spec.User)
	if most == 0 || spec.MaxGPUs <= most {
		return spec
	}
	r := *spec
	r.MaxGPUs = max(most, r.GPUs)
	return &r
}

// beyond reports whether a job asks for more GPUs than its queue gives one, which it came to do after it was taken in.
func (w *jobEvents) beyond(spec *job.Spec) bool {
	return spec != nil && w.o.MostGPUs(spec.User) > 0 && spec.GPUs > w.o.MostGPUs(spec.User)
}

// describe reports a job's specification to the scheduler, if its object has changed it. What
// the job's program stated stays valid until the program states something else.
func (w *jobEvents) describe(e *jobstate.Job) {
	beyond := w.beyond(e.Parsed.Spec)
	if e.Parsed.Spec == nil || beyond && e.Wants() { // it was spoilt, or made too large: what it was holds
		return
	}
	spec := e.Limited(w.bounded(e.Agent.Described(w.spec(e.Parsed), e)))
	if e.Agent.Silent {
		spec = jobstate.Rigid(spec, e)
	}
	if !e.Wants() && (beyond || e.BacksOff(time.Now())) {
		spec.GPUTypes, spec.GPUsPerReplica = []cluster.GPUType{nowhere}, nil
	}
	if !reflect.DeepEqual(spec, e.Spec) {
		e.Spec = spec
		w.Events.Emit(scheduler.Described{Spec: spec})
	}
}

// watch updates a job by what was observed of its pods.
func (w *jobEvents) watch(e *jobstate.Job) {
	if !w.o.Acts() {
		if e.Wants() {
			w.trains(e, nil)
		}
		return
	}
	now := time.Now()
	e.Clock(now)
	e.Phase, _ = e.Look(now)
	switch {
	case !e.Started():
		return
	case e.Parsed.Suspended: // Kueue has not let it go yet
		w.awaitQuota(e, now)
		return
	}
	w.awaitSlice(e, now)
	if !e.Up() {
		if e.TrainsIn != e.Held.Generation && now.Sub(e.Begun) > w.o.Start {
			w.lose(e, fmt.Sprintf("%d of %d pods run %v after the start%s", e.Ready(), e.Workers(), w.o.Start, e.Obstacle()))
		}
		return
	}
	if !e.Agent.Spoke && now.Sub(e.UpSince) >= w.o.Quiet || e.Restored() {
		w.trains(e, nil)
	}
	w.hearTrainer(e)
}

// trains reports to the scheduler, once for each generation, that a job trains.
func (w *jobEvents) trains(e *jobstate.Job, from *float64) {
	if e.TrainsIn == e.Held.Generation {
		return
	}
	e.TrainsIn, e.Failures, e.Setback = e.Held.Generation, 0, ""
	first := job.Report{Job: e.ID(), Configuration: e.Held.Configuration, Progress: e.Progress()}
	if from != nil {
		first.Progress = *from
	}
	w.Events.Emit(scheduler.Reported{Report: first})
}

// hearTrainer uses the progress in the status of a TrainJob, if its program sends us no messages
// and its annotations state its work. That tells nothing about its speed with other numbers of
// GPUs.
func (w *jobEvents) hearTrainer(e *jobstate.Job) {
	if e.Parsed.Kind != "TrainJob" || e.Agent.Spoke || e.Spec.Target <= 0 {
		return
	}
	p, err := progressOf(e)
	if err != nil {
		if e.TrainerError != err.Error() {
			e.TrainerError = err.Error()
			w.o.Log.Warn("status.trainerStatus cannot be believed", slog.String("job", e.Spec.Name), slog.Any("err", err))
		}
		return
	}
	if p == nil || !p.At.After(e.PercentAt) {
		return
	}
	e.PercentAt = p.At
	w.Events.Emit(scheduler.Reported{Report: job.Report{
		Job: e.ID(), Configuration: e.Held.Configuration, CPUs: e.Held.CPUs, Memory: e.Held.Memory, Progress: e.Spec.Target * p.Percent / 100,
	}})
}

// progressOf returns what Kubeflow Trainer says of the progress of a job; nil: nothing.
func progressOf(e *jobstate.Job) (*claims.Progress, error) {
	o, err := e.Object.Whole()
	if err != nil {
		return nil, err
	}
	return claims.Trainer(o)
}

// retract removes the event that a job was lost, if the scheduler has not taken it yet: what the
// scheduler has planned since is a new generation.
func (w *jobEvents) retract(e *jobstate.Job) {
	w.Events.Drop(func(ev scheduler.Event) bool {
		lost, ok := ev.(scheduler.Exited)
		return ok && lost.Job == e.ID() && lost.Outcome == scheduler.Lost
	})
}

// planner returns what says which steps are next.
func (w *jobEvents) planner() *execute.Planner { return execute.NewPlanner(w.writer, w.table) }
