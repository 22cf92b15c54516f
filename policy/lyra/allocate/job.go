package allocate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/job"
)

// A Side is one of the two pools.
type Side int

// The sides.
const (
	Training Side = iota // the training cluster's own GPUs
	Loaned               // those of inference servers on loan
	sides
)

// A Pool is GPUs of one side.
type Pool struct {
	Free  int // idle GPUs; those of flexible workers are not among them
	Total int // all GPUs: jobs larger than that are not waited for
	// PerGPU is how many of these GPUs do the work of one of the training cluster, at least 1;
	// of T4 and V100 it is 3. Source: Lyra §7.5, "three servers which is equivalent to one
	// training server".
	PerGPU float64
}

// A Capacity is both pools, by side.
type Capacity [sides]Pool

// A Job waits for workers or has some.
type Job struct {
	ID       job.ID
	GPUs     int           // of a worker, in the training cluster
	Min, Max int           // workers; the same for an inelastic job
	Work     time.Duration // left to do by one worker: w take Work / w
	Waited   time.Duration // since it was submitted or preempted
	Fungible bool          // may run on GPUs on loan
	Workers  int           // it has now; 0: it waits
	On       Side          // where it has them
}

// Shortest returns the running time with Max workers.
func (j *Job) Shortest() time.Duration { return j.Work / time.Duration(j.Max) }

// Elastic says that the job's number of workers may change.
func (j *Job) Elastic() bool { return j.Max > j.Min }

// saved returns the seconds of running time that w workers save against Min.
func (j *Job) saved(w int) float64 {
	return j.Work.Seconds() * (1/float64(j.Min) - 1/float64(w))
}

// slack is what rounding may add to a whole number of GPUs.
const slack = 1e-9

// need returns the GPUs of pool p that w workers of j occupy.
func (p *Pool) need(j *Job, w int) int {
	return int(math.Ceil(float64(w*j.GPUs)*p.PerGPU - slack))
}

// prefers returns the sides that j may be on, the one it prefers first: the training cluster
// for inelastic jobs, GPUs on loan for elastic ones. Source: Lyra §5.3.
func (j *Job) prefers() []Side {
	switch {
	case !j.Fungible:
		return []Side{Training}
	case j.Elastic():
		return []Side{Loaned, Training}
	}
	return []Side{Training, Loaned}
}

// check returns complaints about j.
func (j *Job) check() error {
	var bad []error
	if j.GPUs < 1 || j.Min < 1 || j.Max < j.Min {
		bad = append(bad, fmt.Errorf("job %s: %d to %d workers of %d GPUs, want 1 <= min <= max, at least 1 GPU", j.ID, j.Min, j.Max, j.GPUs))
	}
	if j.Work < 0 || j.Waited < 0 {
		bad = append(bad, fmt.Errorf("job %s: work %s, waited %s, want at least 0", j.ID, j.Work, j.Waited))
	}
	if j.Workers != 0 && (j.Workers < j.Min || j.Workers > j.Max) {
		bad = append(bad, fmt.Errorf("job %s: has %d workers, want 0 or %d to %d", j.ID, j.Workers, j.Min, j.Max))
	}
	if j.On < 0 || j.On >= sides || j.Workers > 0 && j.On == Loaned && !j.Fungible {
		bad = append(bad, fmt.Errorf("job %s: on side %d, where it may not be", j.ID, j.On))
	}
	return errors.Join(bad...)
}

// check returns complaints about the pools.
func (c *Capacity) check() error {
	var bad []error
	for s, p := range c {
		if p.Free < 0 || p.Total < p.Free {
			bad = append(bad, fmt.Errorf("side %d: %d of %d GPUs free, want 0 to all", s, p.Free, p.Total))
		}
		if !(p.PerGPU >= 1) || math.IsInf(p.PerGPU, 1) {
			bad = append(bad, fmt.Errorf("side %d: %g GPUs for one, want at least 1", s, p.PerGPU))
		}
	}
	return errors.Join(bad...)
}
