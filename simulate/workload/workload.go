// Package workload describes the jobs of a simulation: when they arrive, and how fast their applications truly
// train.
package workload

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// An Arrival is one job of a trace: its submission and its true behaviour.
type Arrival struct {
	At   time.Duration // since the start of the trace
	Spec job.Spec
	// Application names the application that determines the job's speed. If it is empty, the job runs for Duration
	// on its requested GPUs, regardless of Spec.Target, and scales linearly less ScalingLoss.
	Application string
	Duration    time.Duration
	// ScalingLoss is the relative loss of each GPU beyond the request, for an arrival without
	// application. Source: Lyra §7.2, "we add a 20% loss to the throughput brought by this worker".
	ScalingLoss float64
	// Bound: the job runs only on GPUs of the training cluster, never on loaned ones. Source: Lyra §2.1, jobs that
	// are not fungible "request specific GPUs".
	Bound bool
	// Heterogeneous: the job may run on GPUs of two types at once. Source: Lyra §7.1.
	Heterogeneous bool
	// CancelAfter, if positive, is the time from submission until the user cancels the job.
	CancelAfter time.Duration
}

// Warm is the name of the queue of jobs that already run at time 0. The trace has only their remaining work.
const Warm = "warm"

// An Application is a kind of training job, with its true speed and training curve.
type Application struct {
	Name  string
	Batch job.BatchLimits
	// Model is the common name of applications that differ only in batch size, or empty. Epoch is the number of
	// samples of the model's dataset; 0: jobs have no epochs and no schedule.
	Model string
	Epoch int
	// GPUsPerReplica and MicroBatches describe hybrid-parallel jobs as in job.Spec; else nil and 0.
	GPUsPerReplica map[cluster.GPUType]int
	MicroBatches   int
	RestartDelay   time.Duration // from a restart decision to the first step
	StatedDelay    time.Duration // restart delay that the scheduler assumes; 0: the true one
	// Delays are measured restart delays, one per start; later starts take the last one. Only for an application
	// with one job. Nil: all are RestartDelay.
	Delays []time.Duration
	// Profile has the measurements before training. Only for an application with one job of a recorded run. Nil:
	// computed from Speed.
	Profile []Measurement
	// Slowdown divides true goodput. It is 1 except under the public simulator's rules.
	Slowdown float64
	Speed    Speed
	// Mixed returns the seconds of a pass of one sample per GPU on GPUs of two types; nil: the application cannot
	// run on two types. Source: Lyra §2.1.
	Mixed func(a *cluster.Allocation) (step float64)
	Curve *Curve // nil: one epoch of Spec.Target samples, efficiency 1
	// Sensitivity is the effect of CPUs and host memory on the speed; nil: none.
	Sensitivity *perf.Sensitivity
}

// A Measurement is a report from profiling a job, with its time since submission.
type Measurement struct {
	After  time.Duration
	Report job.Report
}

// A Speed returns the true durations of training steps.
type Speed interface {
	// Step returns the seconds of a pass with gradient exchange, and of the exchange alone, on GPUs of type t.
	// shape is the GPUs per node, in node order; local is the samples per replica. ok is false if the application
	// does not run there.
	Step(t cluster.GPUType, shape []int, local int) (step, sync float64, ok bool)
	// LocalRange returns the fewest and most samples per replica and pass on shape; most is 0 if the application
	// cannot run there.
	LocalRange(t cluster.GPUType, shape []int) (least, most int)
}

// A Curve states how training truly progresses in each epoch. Progress is in samples at the efficiency of the initial
// batch size.
type Curve struct {
	Ends    []float64   // progress at the end of each epoch, ascending
	Batches []float64   // total batch sizes at which gradients were measured, ascending
	Sqr     [][]float64 // [batch][epoch] squared gradient norm, relative to the initial batch size
	Var     [][]float64 // [batch][epoch] gradient variance, relative to the initial batch size
}

// Target returns the progress, in samples, at the end of training.
func (c *Curve) Target() float64 { return c.Ends[len(c.Ends)-1] }

// Gradient returns the squared norm and the variance of the gradient in an epoch (from 0) at total batch size batch. It
// interpolates between measured batch sizes; beyond them values are constant.
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

// Gradient is Curve.Gradient, or 0 and 0 without a curve.
func (a *Application) Gradient(epoch int, batch float64) (sqr, variance float64) {
	if a.Curve == nil {
		return 0, 0
	}
	return a.Curve.Gradient(epoch, batch)
}

// A Catalog is a set of applications by name.
type Catalog map[string]*Application
