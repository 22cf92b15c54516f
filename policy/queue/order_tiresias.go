package queue

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// TiresiasOptions configure the two queues of Tiresias-L. DefaultTiresias has the defaults.
type TiresiasOptions struct {
	// Threshold is the GPU time after which a job falls into the second queue. Default 16 h
	// (two queues as in Pollux's public code; Tiresias §3.2.3 has any number).
	Threshold time.Duration
	// Promote, if not 0, is a setting against starvation: a job that has waited this many times
	// as long as it has run comes back to the first queue, and its GPU time counts anew.
	// Default 0 (Tiresias §3.2.3: PROMOTEKNOB, off by default).
	Promote float64
}

// DefaultTiresias returns the defaults.
func DefaultTiresias() TiresiasOptions { return TiresiasOptions{Threshold: 16 * time.Hour} }

// Validate returns an error that joins all complaints about o.
func (o *TiresiasOptions) Validate() error {
	var errs []error
	if o.Threshold <= 0 {
		errs = append(errs, fmt.Errorf("threshold %v, want above 0s", o.Threshold))
	}
	if !(o.Promote >= 0) || math.IsInf(o.Promote, 0) {
		errs = append(errs, fmt.Errorf("promote %v, want at least 0", o.Promote))
	}
	return errors.Join(errs...)
}

// Tiresias returns least attained service first in two queues, with running jobs yielding
// and smaller ones passing, or an error that joins all complaints about o. The order
// remembers promotions: make one for each policy. Source: Tiresias §3.2.3 (discretised
// 2D-LAS).
//
// Deviation: jobs of a queue are ordered by submission, where Tiresias orders them by first
// start, because here the job that came first also started first, unless it did not fit.
func Tiresias(o TiresiasOptions) (Options, error) {
	if err := o.Validate(); err != nil {
		return Options{}, err
	}
	queues := &twoQueues{o: o, promoted: map[job.ID]promotion{}}
	return Options{Order: queues.of, Memory: queues, Preempt: true, Backfill: true}, nil
}

// twoQueues says in which queue a job is.
type twoQueues struct {
	o        TiresiasOptions
	promoted map[job.ID]promotion
}

// A promotion is what a job had when it was last promoted.
type promotion struct{ service, gpuService time.Duration }

// Remember implements memory.Rememberer.
func (q *twoQueues) Remember(m *memory.Codec) {
	memory.Map(m, &q.promoted, func(p *promotion, m *memory.Codec) { m.Fields(&p.service, &p.gpuService) })
}

// of is the Order.
func (q *twoQueues) of(s *policy.Snapshot, j *policy.Job) float64 {
	before := q.promoted[j.ID]
	if j.AttainedGPUService(s.Now)-before.gpuService < q.o.Threshold {
		return 0
	}
	ran := j.AttainedService(s.Now) - before.service
	if q.o.Promote == 0 || j.Holding() || s.Now.Sub(j.Since).Seconds() < q.o.Promote*ran.Seconds() {
		return 1
	}
	q.promoted = policy.Forget(s, q.promoted)
	q.promoted[j.ID] = promotion{j.AttainedService(s.Now), j.AttainedGPUService(s.Now)}
	return 0
}
