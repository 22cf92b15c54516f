package allocate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// A Reason states why the Allocator gave a job its workers, or none.
type Reason string

// The reasons.
const (
	Runs   Reason = "runs"
	NoRoom Reason = "no room"     // the job's base demand does not fit
	Behind Reason = "queue order" // in FIFO order, a job ahead of this one does not fit
)

// A Grant is the number of workers that the Allocator gave one job, and why.
type Grant struct {
	Has Workers // workers on each side; zero if the job waits
	Why Reason
}

// A Plan is the result of Allocate: the grants of all jobs, in their order.
type Plan struct {
	Grants []Grant
	Ahead  []int    // for each waiting job, the number of jobs before it in phase one that still wait
	Left   Capacity // GPUs free after both phases
	// Saved is the running time in seconds that extra workers save, less the pauses that changes cost. Bound is an upper
	// bound on Saved; for heterogeneous jobs, which are served last, it takes all earlier grants as fixed.
	Saved, Bound float64
	Prices       [sides]float64 // by side, an estimate of the seconds that one more GPU would save
}

// An Allocator chooses how many workers each job gets (Lyra §5.2). It keeps memory for reuse, but no state that affects
// results. It is not safe for concurrent use.
type Allocator struct {
	seen    map[job.ID]bool
	solver  mmkp.Solver
	items   []mmkp.Item
	choices []mmkp.Choice
	turns   []turn
	who     []int
	grow    []int
}

// Allocate divides free GPUs, and GPUs that elastic jobs can release, among the jobs. If ctx ends, phase two, which
// grows elastic jobs, stops with the best grants so far. Cost: a pass over the jobs, a sort of waiting jobs, and a
// knapsack with a choice for each extra worker of an elastic job.
func (a *Allocator) Allocate(ctx context.Context, jobs []Job, c Capacity, o Options) (*Plan, error) {
	if err := errors.Join(o.Validate(), c.check(), a.check(jobs)); err != nil {
		return nil, fmt.Errorf("allocate: %w", err)
	}
	r := &round{Allocator: a, jobs: jobs, free: c, o: o, plan: &Plan{Grants: make([]Grant, len(jobs)), Ahead: make([]int, len(jobs))}}
	r.keep()
	for _, last := range []bool{false, true} {
		r.base(last)
		if err := r.flexible(ctx, last); err != nil {
			return nil, fmt.Errorf("allocate: flexible demand: %w", err)
		}
	}
	r.plan.Left = r.free
	return r.plan, nil
}

// A round is a plan under construction. Its phases serve one class of jobs at a time; last is the class of
// heterogeneous jobs. Source: Lyra §6, "with the lowest priority on the remaining servers after all other jobs are
// scheduled".
type round struct {
	*Allocator
	jobs []Job
	free Capacity
	o    Options
	plan *Plan

	waiting int // jobs without workers in phase one so far
}

// keep grants running jobs their base demand and frees their flexible workers. Source: Lyra §5.2, "the set of
// available resources refers to idle GPUs and GPUs being used by flexible workers".
func (r *round) keep() {
	for i := range r.jobs {
		j := &r.jobs[i]
		if !j.runs() {
			continue
		}
		base := j.base()
		r.plan.Grants[i] = Grant{Has: base, Why: Runs}
		for s := range base {
			if j.Has[s] > base[s] {
				r.free[s].Free += r.free[s].extra(j, base[s], j.Has[s])
			}
		}
	}
}

func (r *round) take(i int, s Side, more int) {
	has := &r.plan.Grants[i].Has
	r.free[s].Free -= r.free[s].extra(&r.jobs[i], has[s], has[s]+more)
	has[s] += more
}

func (r *round) elastic(last bool) []int {
	r.who = r.who[:0]
	for i := range r.jobs {
		if j := &r.jobs[i]; j.Heterogeneous == last && j.elastic() && r.plan.Grants[i].Why == Runs {
			r.who = append(r.who, i)
		}
	}
	return r.who
}

func (a *Allocator) check(jobs []Job) error {
	var bad []error
	if a.seen == nil {
		a.seen = make(map[job.ID]bool, len(jobs))
	}
	clear(a.seen)
	for i := range jobs {
		j := &jobs[i]
		if a.seen[j.ID] {
			bad = append(bad, fmt.Errorf("job %s twice", j.ID))
		}
		a.seen[j.ID] = true
		if err := j.check(); err != nil {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

func (j *Job) check() error {
	var bad []error
	if j.GPUs < 1 || j.Min < 1 || j.Max < j.Min {
		bad = append(bad, fmt.Errorf("job %s: %d to %d workers of %d GPUs, want 1 <= min <= max, at least 1 GPU", j.ID, j.Min, j.Max, j.GPUs))
	}
	if j.Work < 0 {
		bad = append(bad, fmt.Errorf("job %s: work %s, want at least 0", j.ID, j.Work))
	}
	if j.Heterogeneous && !(j.MixedSpeed > 0 && j.MixedSpeed <= 1) {
		bad = append(bad, fmt.Errorf("job %s: mixed speed %g, want more than 0 and at most 1", j.ID, j.MixedSpeed))
	}
	for _, err := range [...]error{j.checkSpeed(), j.checkHas()} {
		if err != nil {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

func (j *Job) checkHas() error {
	n := j.Has.Total()
	switch {
	case j.Has[Training] < 0 || j.Has[Loaned] < 0:
		return fmt.Errorf("job %s: has %d and %d workers, want at least 0", j.ID, j.Has[Training], j.Has[Loaned])
	case n != 0 && (n < j.Min || n > j.Max):
		return fmt.Errorf("job %s: has %d workers, want 0 or %d to %d", j.ID, n, j.Min, j.Max)
	case j.Heterogeneous:
	case j.Has.Mixed():
		return fmt.Errorf("job %s: on both sides, want one or heterogeneous", j.ID)
	case j.Has[Loaned] > 0 && !j.Fungible:
		return fmt.Errorf("job %s: on side %d, where it may not be", j.ID, Loaned)
	}
	return nil
}

func (j *Job) checkSpeed() error {
	for w := j.Min; j.Speed != nil && w <= j.Max; w++ {
		if v := j.Speed(w); !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("job %s: speed %g of %d workers, want finite and more than 0", j.ID, v, w)
		}
	}
	return nil
}

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
