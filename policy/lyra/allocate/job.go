package allocate

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// A Side is one of the two pools.
type Side int

// The sides.
const (
	Training Side = iota // the training cluster's own GPUs
	Loaned               // those of inference servers on loan
	sides
)

// Workers are a job's, by side: all on one, unless the job is heterogeneous.
type Workers [sides]int

// Total returns the workers of both sides.
func (w Workers) Total() int { return w[Training] + w[Loaned] }

// Mixed says that there are workers on both sides.
func (w Workers) Mixed() bool { return w[Training] > 0 && w[Loaned] > 0 }

// A Job waits for workers or has some.
type Job struct {
	ID       job.ID
	GPUs     int           // of a worker, in the training cluster
	Min, Max int           // workers; the same for an inelastic job
	Work     time.Duration // left to do by one worker: w take Work / Speed(w)
	Fungible bool          // may run on GPUs on loan, as heterogeneous jobs may in any case
	Has      Workers       // it has now; none: it waits
	// Speed is how many times as fast as one worker so many are, finite and more than 0; nil:
	// so many times. Source: Lyra §8, "a non-linear function of resources".
	Speed func(workers int) float64
	// Heterogeneous: may run on both sides at once, and comes after all jobs that may not;
	// MixedSpeed is the share of its speed that is left then, more than 0 and at most 1.
	// Source: Lyra §7.1, "heterogeneous training jobs only achieve at most 70%".
	Heterogeneous bool
	MixedSpeed    float64
}

// Shortest returns the running time with Max workers, all on one side.
func (j *Job) Shortest() time.Duration {
	if j.Speed == nil {
		return j.Work / time.Duration(j.Max)
	}
	return time.Duration(float64(j.Work) / j.Speed(j.Max))
}

// Elastic says that the job's number of workers may change.
func (j *Job) Elastic() bool { return j.Max > j.Min }

// runs says that j has workers now.
func (j *Job) runs() bool { return j.Has.Total() > 0 }

// base returns which of its workers a running job keeps, those on training first.
func (j *Job) base() Workers {
	own := min(j.Min, j.Has[Training])
	return Workers{own, j.Min - own}
}

// pace returns how many times as fast as one worker w are.
func (j *Job) pace(w Workers) float64 {
	n := w.Total()
	speed := float64(n)
	if j.Speed != nil {
		speed = j.Speed(n)
	}
	if w.Mixed() {
		speed *= j.MixedSpeed
	}
	return speed
}

// gain returns how much faster one more worker on side s makes j, in billionths of the speed
// of one worker: a whole number, so that equals are equal.
func (j *Job) gain(has Workers, s Side) float64 {
	more := has
	more[s]++
	return math.Round(1e9 * (j.pace(more) - j.pace(has)))
}

// prefers returns the sides that j may be on, the one it prefers first: the training cluster
// for inelastic jobs, GPUs on loan for elastic ones unless by o all prefer training. Source:
// Lyra §5.3.
func (j *Job) prefers(o *Options) []Side {
	switch {
	case !j.Fungible:
		return onTraining
	case j.Elastic() && !o.TrainingFirst:
		return loanedFirst
	}
	return trainingFirst
}

// Preferences.
var (
	onTraining    = []Side{Training}
	trainingFirst = []Side{Training, Loaned}
	loanedFirst   = []Side{Loaned, Training}
)

// A Pool is GPUs of one side.
type Pool struct {
	Free  int // idle GPUs; those of flexible workers are not among them
	Total int // all GPUs: by FIFO, jobs larger than that do not block others
	// PerGPU is how many of these GPUs do the work of one of the training cluster, at least 1;
	// of T4 and V100 it is 3. Source: Lyra §7.5, "three servers which is equivalent to one
	// training server".
	PerGPU float64
}

// A Capacity is both pools, by side.
type Capacity [sides]Pool

// slack is what rounding may add to a whole number of GPUs.
const slack = 1e-9

// need returns the GPUs of pool p that w workers of j occupy.
func (p *Pool) need(j *Job, w int) int {
	return int(math.Ceil(float64(w*j.GPUs)*p.PerGPU - slack))
}

// extra returns the GPUs of pool p that w workers of j occupy beyond those of few.
func (p *Pool) extra(j *Job, few, w int) int { return p.need(j, w) - p.need(j, few) }

// hosts returns how many workers of j fit in so many GPUs of pool p.
func (p *Pool) hosts(j *Job, gpus int) int {
	return int((float64(gpus) + slack) / (float64(j.GPUs) * p.PerGPU))
}
