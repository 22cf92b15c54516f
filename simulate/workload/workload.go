// Package workload holds what comes and what is true of it: arrivals, and
// applications with their ground-truth speed and training curve. A scheduler
// never sees the truth; it sees what is measured of it.
package workload

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// An Arrival is one job of a trace: when it comes, what is submitted, and what
// it will really do.
type Arrival struct {
	At   time.Duration // since the start of the trace
	Spec job.Spec
	// Application names the ground truth the job follows. Empty: it runs for
	// Duration on the GPUs it asked for, whatever Spec.Target says of it, and speeds up
	// linearly with more, less ScalingLoss.
	Application string
	Duration    time.Duration
	// ScalingLoss is what each GPU beyond those asked for adds less than those do, of an
	// arrival without application. 0: speed is linear. Source: Lyra §7.2, "we add a 20% loss
	// to the throughput brought by this worker".
	ScalingLoss float64
	// Bound: it runs on GPUs of the training cluster only, not on nodes on loan.
	// Source: Lyra §2.1, jobs that are not fungible "request specific GPUs".
	Bound bool
	// Heterogeneous: it may run on GPUs of two types at once. Source: Lyra §7.1.
	Heterogeneous bool
	// CancelAfter, if positive, is when its user cancels it, since submission.
	CancelAfter time.Duration
}

// Warm is the queue of jobs that run already at time 0, of which a trace knows the rest only.
const Warm = "warm"

// An Application is the ground truth of one kind of training job.
type Application struct {
	Name  string
	Batch job.BatchLimits
	// Model is what applications of one model have in common, whatever their batch
	// size; empty: the application is not one of several. Those of a model name the
	// batch size of one GPU. Epoch is the samples of the model's dataset; 0: its
	// jobs count no epochs, and have no schedule.
	Model string
	Epoch int
	// GPUsPerReplica and MicroBatches describe hybrid-parallel jobs as in
	// job.Spec; nil and 0 otherwise.
	GPUsPerReplica map[cluster.GPUType]int
	MicroBatches   int
	RestartDelay   time.Duration // from a decision to the first step after a restart
	StatedDelay    time.Duration // what the scheduler is told it is; 0: the truth
	// Delays are RestartDelay start by start, of an application with one job whose starts were
	// measured; the last is that of all later ones too. Nil: they are all RestartDelay.
	Delays []time.Duration
	// Profile is what was measured before training, of an application with one job that was
	// profiled in a recorded run: it is measured again. Nil: it follows from Speed.
	Profile []Measurement
	// Slowdown divides true goodput. 1 unless the public simulator's rules are
	// asked for.
	Slowdown float64
	Speed    Speed
	// Mixed returns the seconds of a pass of one sample per GPU on GPUs of two types; nil: the
	// application does not run so. Source: Lyra §2.1.
	Mixed func(a *cluster.Allocation) (step float64)
	Curve *Curve // nil: one epoch of Spec.Target samples, efficiency 1
	// Sensitivity is what CPUs and host memory do to the speed; nil: nothing.
	Sensitivity *perf.Sensitivity
}

// A Measurement is a report that profiling made, and how long after the submission it came.
type Measurement struct {
	After  time.Duration
	Report job.Report
}

// A Speed is the ground truth of step times.
type Speed interface {
	// Step returns the seconds of one gradient-exchanging pass and how many of
	// them the exchange takes, on GPUs of type t held as shape (GPUs per node,
	// in node order) with local samples per replica; ok is false if the
	// application does not run so.
	Step(t cluster.GPUType, shape []int, local int) (step, sync float64, ok bool)
	// LocalRange returns the least and most samples per replica and pass that
	// run on shape; most is 0 if none does.
	LocalRange(t cluster.GPUType, shape []int) (least, most int)
}

// A Curve is the ground truth of training progress, epoch by epoch. Progress
// is in samples at the initial batch size's efficiency.
type Curve struct {
	Ends    []float64   // progress at the end of each epoch, ascending
	Batches []float64   // total batch sizes at which gradients were measured, ascending
	Sqr     [][]float64 // [batch][epoch] squared gradient norm, referred to the initial batch size
	Var     [][]float64 // [batch][epoch] gradient variance, likewise
}

// Target returns the progress at which training is complete.
func (c *Curve) Target() float64 { return c.Ends[len(c.Ends)-1] }

// Gradient returns the squared norm and the variance of the gradient in an
// epoch (0-based) at a total batch size, linear between measured batch sizes
// and constant beyond them.
func (c *Curve) Gradient(epoch int, batch float64) (sqr, variance float64) {
	last := len(c.Batches) - 1
	i := 0
	for i < last && c.Batches[i+1] < batch {
		i++
	}
	if i == last || batch <= c.Batches[0] {
		return c.Sqr[i][epoch], c.Var[i][epoch]
	}
	w := (batch - c.Batches[i]) / (c.Batches[i+1] - c.Batches[i])
	w = min(w, 1)
	return (1-w)*c.Sqr[i][epoch] + w*c.Sqr[i+1][epoch], (1-w)*c.Var[i][epoch] + w*c.Var[i+1][epoch]
}

// Gradient returns the squared norm and the variance of the gradient in an epoch
// at a total batch size; both 0 where nothing is known of gradients.
func (a *Application) Gradient(epoch int, batch float64) (sqr, variance float64) {
	if a.Curve == nil {
		return 0, 0
	}
	return a.Curve.Gradient(epoch, batch)
}

// A Catalog holds applications by name.
type Catalog map[string]*Application
