package kube

import (
	"log/slog"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/claims"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/scheduler"
)

// hearTrainer takes in how far a TrainJob says it is, where its own program does not speak to
// us and its annotations say how much there is to do. That says nothing of its speed at other
// sizes.
func (w *World) hearTrainer(e *jobstate.Job) {
	if e.Parsed.Kind != "TrainJob" || e.Agent.Spoke || e.Spec.Target <= 0 {
		return
	}
	p, err := claims.Trainer(e.Object)
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
	w.inbox.Emit(scheduler.Reported{Report: job.Report{
		Job: e.ID(), Configuration: e.Held.Configuration, CPUs: e.Held.CPUs, Memory: e.Held.Memory, Progress: e.Spec.Target * p.Percent / 100,
	}})
}
