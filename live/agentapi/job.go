package agentapi

import (
	"maps"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// Described returns the specification of a job: the user's request asked, updated with what the program reports about
// itself on GPUs of type t. restart is the measured start time, or 0.
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

// AddLocalMax returns a copy of known, the largest local batch size by GPU type, with the value that the program
// reports for type t. Without such a value it returns known itself.
func (h *Hello) AddLocalMax(known map[cluster.GPUType]int, t cluster.GPUType) map[cluster.GPUType]int {
	if h.Batch.LocalMax <= 0 {
		return known
	}
	all := map[cluster.GPUType]int{}
	maps.Copy(all, known)
	all[t] = h.Batch.LocalMax
	return all
}

// ToTrain returns the batch size with which a job should train: the planned size asked, or the best size for row if the
// scheduler may choose, or zero, which leaves the choice to the program. row may be nil.
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

const (
	rungs      = 4
	mostPasses = 16
)

// Ladder returns the batch sizes per worker that a job of unknown speed tries in its first steps on GPU type t. If the
// total batch size is fixed, accumulation passes keep it the same. The smallest size is then a sixteenth of a worker's
// samples, because with a local batch size of 1 a step could take many times as long. Source: Sia §3.3.2, which
// measures a job apart from its training.
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

// A Mean is the mean time from a job's start until it trains.
type Mean struct {
	N    int
	mean time.Duration
}

// Add adds one measurement.
func (m *Mean) Add(d time.Duration) {
	m.N++
	m.mean += (d - m.mean) / time.Duration(m.N)
}

// Value returns the mean; 0 before the first measurement.
func (m *Mean) Value() time.Duration { return m.mean }
