package allocate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// A Side is one of two pools of GPUs: the training cluster's own, or those on nodes lent by an inference cluster.
type Side int

// The sides.
const (
	Training Side = iota // GPUs of the training cluster
	Loaned               // GPUs on loan from an inference cluster
	sides
)

// Workers is the number of a job's workers on each side. Only a heterogeneous job may have workers on both.
type Workers [sides]int

// Total returns the number of workers on both sides.
func (w Workers) Total() int { return w[Training] + w[Loaned] }

// Mixed reports whether a job has workers on training servers and on loaned servers.
func (w Workers) Mixed() bool { return w[Training] > 0 && w[Loaned] > 0 }

// A Job is the Allocator's input for one job, which waits or has some workers.
type Job struct {
	ID       job.ID
	GPUs     int           // GPUs for each worker on the training cluster
	Min, Max int           // fewest and most workers; equal for an inelastic job
	Work     time.Duration // remaining running time with one worker; with w workers it is Work / Speed(w)
	Fungible bool          // may run on loan; heterogeneous jobs may in any case
	Has      Workers       // present workers; zero: it waits
	// Speed returns the speed of a number of workers relative to one worker; it is finite and above 0. Nil means
	// linear. Source: Lyra §8, "a non-linear function of resources".
	Speed func(workers int) float64
	// Heterogeneous jobs may run on both sides at once; they are served last. MixedSpeed, in (0, 1], is the
	// fraction of speed that remains then. Source: Lyra §7.1, "heterogeneous training jobs only achieve at most
	// 70%".
	Heterogeneous bool
	MixedSpeed    float64
}

// shortest returns the job's remaining running time if it had Max workers, all on one side.
func (j *Job) shortest() time.Duration {
	if j.Speed == nil {
		return j.Work / time.Duration(j.Max)
	}
	return time.Duration(float64(j.Work) / j.Speed(j.Max))
}

// elastic reports whether the job may run with different numbers of workers.
func (j *Job) elastic() bool { return j.Max > j.Min }

func (j *Job) runs() bool { return j.Has.Total() > 0 }

func (j *Job) base() Workers {
	own := min(j.Min, j.Has[Training])
	return Workers{own, j.Min - own}
}

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

// gain returns the speed that one more worker on side s adds, in billionths of one worker's: rounded, so that
// equals compare equal.
func (j *Job) gain(has Workers, s Side) float64 {
	more := has
	more[s]++
	return math.Round(1e9 * (j.pace(more) - j.pace(has)))
}

// prefers returns the allowed sides in order of preference: training for inelastic jobs, loan for elastic
// ones unless o.TrainingFirst. Source: Lyra §5.3.
func (j *Job) prefers(o *Options) []Side {
	switch {
	case !j.Fungible:
		return onTraining
	case j.elastic() && !o.TrainingFirst:
		return loanedFirst
	}
	return trainingFirst
}

var (
	onTraining    = []Side{Training}
	trainingFirst = []Side{Training, Loaned}
	loanedFirst   = []Side{Loaned, Training}
)

// A Pool describes the GPUs of one side.
type Pool struct {
	Free  int // idle GPUs, flexible workers not included
	Total int // all GPUs
	// PerGPU is how many GPUs of this pool are as fast as one training GPU, at least 1; for T4 and V100 it is 3.
	// Source: Lyra §7.5, "three servers which is equivalent to one training server".
	PerGPU float64
}

// A Capacity describes the GPUs of both sides.
type Capacity [sides]Pool

const slack = 1e-9

func (p *Pool) need(j *Job, w int) int {
	return int(math.Ceil(float64(w*j.GPUs)*p.PerGPU - slack))
}

func (p *Pool) extra(j *Job, few, w int) int { return p.need(j, w) - p.need(j, few) }

func (p *Pool) hosts(j *Job, gpus int) int {
	return int((float64(gpus) + slack) / (float64(j.GPUs) * p.PerGPU))
}

// An Order is the order in which waiting jobs get their base demand, the workers without which they cannot run (phase
// one).
type Order string

// The orders.
const (
	SJF  Order = "sjf"  // shortest job first; a job that does not fit is skipped
	FIFO Order = "fifo" // in the given order; a job that does not fit blocks all behind it
)

// A Growth is the rule by which elastic jobs get extra workers (phase two).
type Growth string

// The growths.
const (
	Knapsack Growth = "knapsack" // maximises the running time saved
	None     Growth = "none"     // no extra workers
	Gandiva  Growth = "gandiva"  // in turn, while no job waits
	AFS      Growth = "afs"      // next worker to the job whose throughput increases most
)

// Options configure an Allocator. The zero value is Lyra as published.
type Options struct {
	Order  Order         // empty: SJF
	Growth Growth        // empty: Knapsack
	Pause  time.Duration // time that Knapsack charges for changing a running job's workers
	// TrainingFirst starts elastic jobs on training servers if they fit there. Extra workers of heterogeneous jobs
	// still go on loan first. Source: Lyra §7.2, Table 6, "places them to training servers first just like
	// inelastic jobs".
	TrainingFirst bool
}

// DefaultOptions returns the options of the paper, but with a Pause equal to its mean preemption overhead, so that
// workers change only if the gain exceeds it. Source: Lyra §7.5, "63 seconds".
func DefaultOptions() Options {
	return Options{Order: SJF, Growth: Knapsack, Pause: 63 * time.Second}
}

// Validate returns all errors in o, joined.
func (o Options) Validate() error {
	var bad []error
	switch o.Order {
	case "", SJF, FIFO:
	default:
		bad = append(bad, fmt.Errorf("order %q, want sjf or fifo", o.Order))
	}
	switch o.Growth {
	case "", Knapsack, None, Gandiva, AFS:
	default:
		bad = append(bad, fmt.Errorf("growth %q, want knapsack, none, gandiva or afs", o.Growth))
	}
	if o.Pause < 0 {
		bad = append(bad, fmt.Errorf("pause %s, want at least 0", o.Pause))
	}
	return errors.Join(bad...)
}
