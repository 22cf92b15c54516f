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

// TiresiasOptions configure the policy Tiresias-L, which does not use the lengths of jobs.
type TiresiasOptions struct {
	// Threshold is the GPU time after which a job moves to the second queue. Default 16 h (two queues as in
	// Pollux's public code; Tiresias §3.2.3 allows any number of queues).
	Threshold time.Duration
	// Promote, if not 0, returns a job to the first queue after it has waited this many times as
	// long as it ran. Default 0 (Tiresias §3.2.3: PROMOTEKNOB, off by default).
	Promote float64
}

// DefaultTiresias returns the default settings.
func DefaultTiresias() TiresiasOptions { return TiresiasOptions{Threshold: 16 * time.Hour} }

// Validate returns all errors of o, joined.
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

// Tiresias returns the options of the policy Tiresias-L: two queues by GPU time received so far, with
// preemption and backfilling. Call it once for each policy, because the Options store promotions. Source:
// Tiresias §3.2.3 (discretised 2D-LAS).
//
// Deviation: jobs of a queue are ordered by submission, where Tiresias orders them by first start, because
// the earlier job here also started first, unless it did not fit.
func Tiresias(o TiresiasOptions) (Options, error) {
	if err := o.Validate(); err != nil {
		return Options{}, err
	}
	queues := &twoQueues{o: o, promoted: map[job.ID]promotion{}}
	return Options{Order: queues.of, Memory: queues, Preempt: true, Backfill: true}, nil
}

type twoQueues struct {
	o        TiresiasOptions
	promoted map[job.ID]promotion
}

type promotion struct{ service, gpuService time.Duration }

func (q *twoQueues) Remember(m *memory.Codec) {
	memory.Map(m, &q.promoted, func(p *promotion, m *memory.Codec) { m.Fields(&p.service, &p.gpuService) })
}

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
