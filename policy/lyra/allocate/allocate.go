package allocate

import (
	"context"
	"errors"
	"fmt"

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
	// Saved is the running time in seconds that extra workers save, less the pauses that changes cost. Bound is an
	// upper bound on Saved. With heterogeneous jobs it assumes the grants made before theirs.
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

// Allocate divides two kinds of GPUs among the jobs: free GPUs, and GPUs of workers that elastic jobs can release. If
// ctx ends, phase two, which grows elastic jobs, stops with the best grants so far. Cost: a pass over the jobs, a sort
// of waiting jobs, and a knapsack with a choice for each extra worker of an elastic job.
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
		if j := &r.jobs[i]; j.Heterogeneous == last && j.Elastic() && r.plan.Grants[i].Why == Runs {
			r.who = append(r.who, i)
		}
	}
	return r.who
}
