package allocate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/job"
)

// Options say where the rules are ours and not the paper's; the zero value is the paper.
type Options struct {
	Patience time.Duration // after which a waiting job goes first; 0: never
	Pause    time.Duration // what a change of workers costs a running job
}

// DefaultOptions lets no job wait for long, and workers move where it pays: Patience is 4 h,
// what the 99th percentile of jobs wait under FIFO (14,323 s), Pause the mean overhead of a
// preemption. Source: Lyra §7.4, Table 8; §7.5, "63 seconds".
func DefaultOptions() Options { return Options{Patience: 4 * time.Hour, Pause: 63 * time.Second} }

// Validate joins every complaint about o.
func (o Options) Validate() error {
	var bad []error
	if o.Patience < 0 {
		bad = append(bad, fmt.Errorf("patience %s, want at least 0", o.Patience))
	}
	if o.Pause < 0 {
		bad = append(bad, fmt.Errorf("pause %s, want at least 0", o.Pause))
	}
	return errors.Join(bad...)
}

// A Reason says why a job gets what it gets.
type Reason string

// The reasons.
const (
	Runs   Reason = "runs"
	NoRoom Reason = "no room" // its base demand does not fit
	Held   Reason = "held"    // it would fit, but the GPUs are held for a job that waited too long
)

// A Grant is a job's workers, all on one side.
type Grant struct {
	Workers int // 0: it waits
	On      Side
	Why     Reason
}

// A Plan is what every job gets.
type Plan struct {
	Grants []Grant  // in the order of the jobs
	Left   Capacity // GPUs free after both phases
	// Saved is the running time that flexible workers save, less pauses, in seconds; no plan
	// of phase two saves more than Bound.
	Saved, Bound float64
	Prices       [sides]float64 // seconds that one more GPU of each side would save, about
}

// Allocate shares the GPUs that are free, and those of flexible workers, among the jobs. It
// reads its arguments only. An ended context cuts the search of phase two short. Errors: what
// the jobs and pools cannot be, bad options. It costs a sort, and a knapsack of as many
// choices as elastic jobs have flexible workers.
func Allocate(ctx context.Context, jobs []Job, c Capacity, o Options) (*Plan, error) {
	if err := errors.Join(o.Validate(), c.check(), check(jobs)); err != nil {
		return nil, fmt.Errorf("allocate: %w", err)
	}
	c.release(jobs)
	plan := &Plan{Grants: base(jobs, &c, o.Patience)}
	if err := plan.flexible(ctx, jobs, c, o.Pause); err != nil {
		return nil, fmt.Errorf("allocate: flexible demand: %w", err)
	}
	return plan, nil
}

// check joins complaints about the jobs.
func check(jobs []Job) error {
	var bad []error
	seen := make(map[job.ID]bool, len(jobs))
	for i := range jobs {
		if seen[jobs[i].ID] {
			bad = append(bad, fmt.Errorf("job %s twice", jobs[i].ID))
		}
		seen[jobs[i].ID] = true
		bad = append(bad, jobs[i].check())
	}
	return errors.Join(bad...)
}

// release adds the GPUs of flexible workers to those that are free. Source: Lyra §5.2, "the
// set of available resources refers to idle GPUs and GPUs being used by flexible workers".
func (c *Capacity) release(jobs []Job) {
	for i := range jobs {
		if j := &jobs[i]; j.Workers > 0 {
			p := &c[j.On]
			p.Free += p.need(j, j.Workers) - p.need(j, j.Min)
		}
	}
}
