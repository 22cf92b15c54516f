package kube

import (
	"log/slog"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/claims"
	"github.com/oxgang/oxgang/scheduler"
)

// hearTrainer takes in how far a TrainJob says it is, where its own program does not speak to
// us and its annotations say how much there is to do. That says nothing of its speed at other
// sizes.
func (w *World) hearTrainer(e *entry) {
	if e.job.Kind != "TrainJob" || e.agent.spoke || e.spec.Target <= 0 {
		return
	}
	p, err := claims.Trainer(e.object)
	if err != nil {
		if e.trainer != err.Error() {
			e.trainer = err.Error()
			w.o.Log.Warn("status.trainerStatus cannot be believed", slog.String("job", e.spec.Name), slog.Any("err", err))
		}
		return
	}
	if p == nil || !p.At.After(e.percentAt) {
		return
	}
	e.percentAt = p.At
	w.inbox.Emit(scheduler.Reported{Report: job.Report{
		Job: e.id(), Configuration: e.held.Configuration, CPUs: e.held.CPUs, Memory: e.held.Memory, Progress: e.spec.Target * p.Percent / 100,
	}})
}
