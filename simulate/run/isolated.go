package run

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/workload"
)

type isolatedKey struct {
	config     cluster.Configuration
	app        *workload.Application
	batch      int // submitted
	init, most int // total batch sizes allowed
	least      int // local
	adaptivity job.Adaptivity
	goal       job.Goal
	target     float64 // samples, without a training curve
	mode       job.ScheduleMode
	gpus       int // submitted, with a schedule
}

type isolatedTimes struct {
	mu    sync.Mutex
	known map[isolatedKey]float64
}

func (t *isolatedTimes) of(k isolatedKey, compute func() float64) float64 {
	t.mu.Lock()
	seconds, ok := t.known[k]
	t.mu.Unlock()
	if ok {
		return seconds
	}
	seconds = compute() // two runs may compute the same value at the same time
	t.mu.Lock()
	t.known[k] = seconds
	t.mu.Unlock()
	return seconds
}

// isolated returns the true times of finish-time fairness: alone on the whole GPUs of a share with
// proportional CPUs and memory. A share below the job's minimum becomes the minimum for a part of the time.
// Sources: Sia §3.5.5; Synergy §2.
func isolated(in *Inputs) func(*job.Spec, cluster.GPUType, float64) time.Duration {
	times := in.alone
	var alike workload.Steadies // of one run
	return func(spec *job.Spec, t cluster.GPUType, gpus float64) time.Duration {
		info, ok := in.Cluster.Type(t)
		if !ok {
			return 0
		}
		n := wholeShare(spec, t, gpus)
		share := info.Proportional(info.Fewest(n))
		app := in.application(spec)
		if app == nil {
			app, spec = in.steady(spec, &alike)
			return lasting(app.Alone(spec, share), gpus/float64(n), in.restartDelay(app))
		}
		k := isolatedKey{share.Configuration, app, spec.BatchSize, spec.Batch.Init, spec.Batch.Max, spec.Batch.LocalMin, spec.Adaptivity, spec.Goal, 0, spec.Schedule.Mode, 0}
		if app.Curve == nil {
			k.target, k.gpus = spec.Target, spec.GPUs
		}
		alone := func() float64 { return app.Alone(spec, share) }
		if k.mode == job.Given { // has its own regimes
			return lasting(alone(), gpus/float64(n), in.restartDelay(app))
		}
		return lasting(times.of(k, alone), gpus/float64(n), in.restartDelay(app))
	}
}

func (in *Inputs) restartDelay(app *workload.Application) time.Duration {
	if in.restart != nil {
		return *in.restart
	}
	return app.RestartDelay
}

func wholeShare(spec *job.Spec, t cluster.GPUType, gpus float64) int {
	if !spec.Adaptivity.Has(job.GPUCount) {
		return spec.Requested(t)
	}
	unit := spec.ReplicaGPUs(t)
	n := int(gpus) / unit * unit
	if spec.MaxGPUs > 0 {
		n = min(n, spec.Most(t))
	}
	return max(n, spec.Min(t))
}

func lasting(seconds, share float64, start time.Duration) time.Duration {
	seconds /= math.Min(1, share)
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0
	}
	return start + time.Duration(seconds*float64(time.Second))
}

func (in *Inputs) static(c *config.Config) bool {
	return c.Fairness.Rho == "static" || c.Fairness.Rho == "" && !slices.ContainsFunc(in.Arrivals, func(a workload.Arrival) bool {
		return a.Spec.Schedule.Mode == job.Unscheduled
	})
}

// fair returns the fair completion times of the public Shockwave code's static definition: the time alone on the
// requested GPUs of the first suitable type, with a whole last epoch, times the trace's jobs per GPU, at least 1.
// Source: public Shockwave simulator.
//
// Deviation: contention is not the mean over the job's own life (Shockwave §6), because figures are compared with
// that code.
func (in *Inputs) fair() func(*job.Spec) time.Duration {
	contention := max(1, float64(len(in.Arrivals))/float64(in.Cluster.GPUs()))
	return func(spec *job.Spec) time.Duration { return lasting(in.exclusive(spec)*contention, 1, 0) }
}

// StaticRhos returns the static finish-time fairness of each completed job: its completion time divided by a fair time
// that does not depend on the run.
func StaticRhos(r *Run, in *Inputs) []float64 {
	specs, fair := in.specs(), in.fair()
	var all []float64
	for i := range r.Result.Jobs {
		j := &r.Result.Jobs[i]
		if want := fair(specs[j.ID]); j.Outcome == metrics.Done && want > 0 {
			all = append(all, j.JCT/want.Seconds())
		}
	}
	return all
}

// MakespanBound returns a lower bound on the makespan of the trace, as if all jobs arrived at once.
// Source: Shockwave App. G.2, Eq. 10.
func MakespanBound(in *Inputs) time.Duration {
	var left []time.Duration
	var size []int
	for i := range in.Arrivals {
		spec := &in.Arrivals[i].Spec
		left = append(left, lasting(in.exclusive(spec), 1, 0))
		size = append(size, max(1, spec.GPUs))
	}
	return perf.MakespanBound(left, size, in.Cluster.GPUs())
}

func (in *Inputs) exclusive(spec *job.Spec) float64 {
	app := in.application(spec)
	if app == nil {
		app, spec = in.steady(spec, new(workload.Steadies))
	}
	regimes, _ := app.Regimes(spec) // checked when read
	for _, t := range in.Cluster.Types() {
		alloc := t.Proportional(t.Fewest(spec.Requested(t.Type)))
		alone := app.Alone(spec, alloc)
		if regimes != nil {
			alone = app.Exclusive(regimes, alloc)
		}
		if alone > 0 && !math.IsInf(alone, 1) {
			return alone
		}
	}
	return 0
}
