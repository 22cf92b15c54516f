package train

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/simulate/workload"
)

type training struct {
	app      *workload.Application
	total    int     // samples per batch, as submitted, or the application's
	target   float64 // samples
	adaptive bool

	progress, saved float64 // samples at the efficiency of the initial batch
	step, savedStep float64 // optimiser steps
	delay           float64 // seconds until the next step

	held     cluster.Configuration
	shape    []int // GPUs by node
	batch    job.BatchSize
	pass     float64 // seconds of a pass with exchange
	exchange float64
}

func (t *training) begin(held cluster.Configuration, shape []int, survived bool) {
	if !survived {
		t.progress, t.step = t.saved, t.savedStep
	}
	t.held, t.shape, t.delay = held, shape, t.app.RestartDelay.Seconds()
	t.cut(job.BatchSize{})
}

func (t *training) replicas() int {
	return t.held.GPUs / max(1, t.app.GPUsPerReplica[t.held.GPUType])
}

// cut sets a batch size; zero: the submitted one. The size is limited to the application's measured range, and
// times come from measurements.
func (t *training) cut(b job.BatchSize) {
	n := t.replicas()
	t.pass, t.exchange = 0, 0
	if n == 0 {
		return
	}
	if b.Local == 0 {
		b = job.BatchSize{Local: 1}
		if t.app.Batch.Max > 1 {
			total := max(t.total, n)
			b = perf.FixedBatch(total, n, t.held.GPUType, &t.app.Batch)
		}
	}
	least, most := t.app.Speed.LocalRange(t.held.GPUType, t.shape)
	b.Local = min(max(b.Local, least), most)
	t.batch = b
	if step, sync, ok := t.app.Speed.Step(t.held.GPUType, t.shape, b.Local); ok {
		t.pass, t.exchange = step, sync
	}
}

// iteration returns 0 if the application does not run on these resources.
func (t *training) iteration() float64 {
	return t.pass + float64(t.batch.Accumulation)*(t.pass-t.exchange)
}

func (t *training) size() float64 { return float64(t.replicas() * t.batch.PerReplica()) }

func (t *training) epoch() (int, float64) {
	if t.app.Curve == nil {
		return 0, math.Inf(1)
	}
	ends := t.app.Curve.Ends
	for i, end := range ends[:len(ends)-1] {
		if t.progress < end {
			return i, end
		}
	}
	return len(ends) - 1, math.Inf(1)
}

func (t *training) advance(seconds float64) float64 {
	waited := min(t.delay, seconds)
	t.delay -= waited
	left, iteration := seconds-waited, t.iteration()
	trained := 0.0
	for left > 0 && iteration > 0 && !t.done() {
		epoch, end := t.epoch()
		rate := t.size() / iteration / max(1, t.app.Slowdown) * t.app.Efficiency(epoch, t.size())
		end = min(end, t.target)
		spent := min(left, (end-t.progress)/rate)
		if spent < left {
			t.progress = end // despite rounding of the sum
		} else {
			t.progress += rate * spent
		}
		t.step += spent / iteration
		left, trained = left-spent, trained+spent
	}
	return trained
}

func (t *training) save() { t.saved, t.savedStep = t.progress, t.step }

func (t *training) done() bool { return t.progress >= t.target }
