package agentapi

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// Described returns a job's specification: what its user asked for, with what its program states
// on GPUs of type t. restart, if not 0, is the measured time of its starts.
func (h *Hello) Described(asked *job.Spec, t cluster.GPUType, restart time.Duration) *job.Spec {
	spec := *asked
	spec.BatchSize = h.Batch.Init
	spec.Batch = job.BatchLimits{Init: h.Batch.Init, Max: h.Batch.Max, LocalMin: h.Batch.LocalMin}
	if h.Batch.LocalMax > 0 {
		spec.Batch.LocalMax = map[cluster.GPUType]int{t: h.Batch.LocalMax}
	}
	if h.Batch.Adaptive {
		spec.Adaptivity |= job.BatchSizes
	}
	if spec.Timed { // its program counts samples
		spec.Target, spec.Timed = 0, false
	}
	if h.Samples > 0 {
		spec.Target = h.Samples
	}
	spec.Schedule.Epochs = h.Epochs
	if len(h.Schedule) > 0 {
		spec.Schedule.Mode, spec.Schedule.Regimes = job.Given, nil
	}
	for _, r := range h.Schedule {
		spec.Schedule.Regimes = append(spec.Schedule.Regimes, job.Regime{BatchSize: r.BatchSize, Epochs: r.Epochs})
	}
	if restart > 0 {
		spec.RestartOverhead = restart.Round(time.Millisecond)
	}
	return &spec
}

// ToTrain returns the batch size with which a job with a number of workers should train: the one of
// the plan, or else the best by its model if the scheduler may choose, or else zero, which leaves
// the choice to the client. row is the job as the scheduler sees it; nil if it does not know it yet.
func ToTrain(asked job.BatchSize, row *policy.Job, a cluster.Allocation, workers int) Batch {
	if asked.Local > 0 {
		return Batch{Local: asked.Local, Accumulation: asked.Accumulation}
	}
	if row == nil || row.Perf == nil || !row.Adaptivity.Has(job.BatchSizes) {
		return Batch{}
	}
	_, best := perf.BestBatch(row.Perf, a, workers, row.Limits)
	return Batch{Local: best.Local, Accumulation: best.Accumulation}
}

// A ladder has at most rungs batch sizes, and the smallest makes a step of at most mostPasses passes.
const (
	rungs      = 4
	mostPasses = 16
)

// Ladder returns the local batch sizes with which a job of unknown speed makes its first steps. If
// the total batch size is fixed, accumulation keeps it, so that the training is the same: then steps
// at a local batch size of 1 would take, on a GPU that computes 32 samples as fast as one, as many times as long as others.
// So the smallest is a sixteenth of the samples of a worker, what each of 16 times as many workers would have.
// Source: Sia §3.3.2, which measures a job apart from its training.
func Ladder(spec *job.Spec, t cluster.GPUType, workers int) []int {
	limits := spec.Batch
	share := (limits.Init + workers - 1) / workers
	if !spec.Adaptivity.Has(job.BatchSizes) {
		limits.Max = share
	}
	smallest := (share + mostPasses - 1) / mostPasses
	if most, limited := limits.LocalMax[t]; limited {
		smallest = min(smallest, most)
	}
	limits.LocalMin = max(limits.LocalMin, smallest)
	return perf.Ladder(&limits, t, rungs)
}

// A Mean is the mean time from the start of a generation until it trained.
type Mean struct {
	N    int // starts
	mean time.Duration
}

// Add adds one start.
func (m *Mean) Add(d time.Duration) {
	m.N++
	m.mean += (d - m.mean) / time.Duration(m.N)
}

// Value returns the mean; 0 before the first start.
func (m *Mean) Value() time.Duration { return m.mean }
