package kube

import (
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

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
	case e.Parsed.Suspended: // not admitted by Kueue
		w.awaitQuota(e, now)
		return
	}
	if why := e.Inflated(corev1.ResourceName(w.o.Nodes.GPUResource)); why != "" {
		e.Failures = max(e.Failures, jobstate.Tries-1) // other jobs get the GPUs at once
		w.lose(e, why)
		return
	}
	w.awaitSlice(e, now)
	if !e.Up() {
		if e.Unplaced(now) > e.PlaceWithin(w.o.Start) {
			waited := e.PlaceWithin(w.o.Start)
			e.Failures = max(e.Failures, jobstate.Tries-1)
			w.lose(e, fmt.Sprintf("kube-scheduler placed only %d of %d pods within %v%s", e.Placed(), e.Workers(), waited, e.Obstacle()))
			return
		}
		if e.TrainsIn != e.Held.Generation && now.Sub(e.Begun) > w.o.Start {
			w.lose(e, fmt.Sprintf("only %d of %d pods run %v after the start%s", e.Ready(), e.Workers(), w.o.Start, e.Obstacle()))
		}
		return
	}
	if !e.Agent.Reporting && now.Sub(e.UpSince) >= w.o.Quiet || e.Restored() {
		w.trains(e, nil)
	}
	w.readTrainer(e)
}

func (w *jobEvents) trains(e *jobstate.Job, from *float64) {
	if e.TrainsIn == e.Held.Generation {
		return
	}
	e.TrainsIn, e.Failures, e.Setback = e.Held.Generation, 0, ""
	first := job.Report{Job: e.ID, Configuration: e.Held.Configuration}
	if from != nil {
		first.Progress = *from
	} else if !e.Spec.NoCheckpoint {
		first.Progress = e.Status.Progress
	}
	w.Events.Emit(scheduler.Reported{Report: first})
}

func (w *jobEvents) readTrainer(e *jobstate.Job) {
	if e.Parsed.Kind != "TrainJob" || e.Agent.Reporting || e.Spec.Target <= 0 {
		return
	}
	p, err := progressOf(e)
	if err != nil {
		if e.TrainerError != err.Error() {
			e.TrainerError = err.Error()
			w.o.Log.Warn("status.trainerStatus is invalid", slog.String("job", e.Spec.Name), slog.Any("err", err))
		}
		return
	}
	if p == nil || !p.At.After(e.PercentAt) {
		return
	}
	e.PercentAt = p.At
	w.Events.Emit(scheduler.Reported{Report: job.Report{
		Job: e.ID, Configuration: e.Held.Configuration, CPUs: e.Held.CPUs, Memory: e.Held.Memory, Progress: e.Spec.Target * p.Percent / 100,
	}})
}

func progressOf(e *jobstate.Job) (*progress, error) {
	o, err := e.Object.Unpack()
	if err != nil {
		return nil, err
	}
	return trainer(o)
}

func (w *jobEvents) awaitQuota(e *jobstate.Job, now time.Time) {
	if now.Sub(e.Queued) <= w.o.Start {
		return
	}
	e.Failures = max(e.Failures, jobstate.Tries-1)
	w.lose(e, fmt.Sprintf("Kueue has not admitted it within %v", w.o.Start))
}

func (w *jobEvents) awaitSlice(e *jobstate.Job, now time.Time) {
	if waiting := e.AwaitQuota(); waiting > 0 && now.Sub(e.Queued) > w.o.Start && e.TrainsIn == e.Held.Generation {
		e.Limit = jobstate.Limit{GPUs: (e.Made() - waiting) * e.Parsed.PerWorker.GPUs, Why: "Kueue has no quota for them", Until: now.Add(jobstate.LongBackoff)}
		w.describe(e)
	}
}
