package allocate

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// A Reason says why a job gets what it gets.
type Reason string

// The reasons.
const (
	Runs   Reason = "runs"
	NoRoom Reason = "no room"     // its base demand does not fit
	Behind Reason = "queue order" // it comes after a job that does not fit (FIFO)
)

// A Grant is a job's workers.
type Grant struct {
	Has Workers // none: it waits
	Why Reason
}

// A Plan is what every job gets.
type Plan struct {
	Grants []Grant  // in the order of the jobs
	Ahead  []int    // of each job that waited: those that are before it in phase one and wait yet
	Left   Capacity // GPUs free after both phases
	// Saved is the running time that flexible workers save by the knapsack, less pauses, in
	// seconds; no plan of phase two saves more than Bound, that of heterogeneous jobs after
	// what comes before them.
	Saved, Bound float64
	Prices       [sides]float64 // seconds that one more GPU of each side would save, about
}

// An Allocator makes plan after plan in the memory of the last one, of which it remembers
// nothing. Not safe for concurrent use.
type Allocator struct {
	seen    map[job.ID]bool
	solver  mmkp.Solver
	items   []mmkp.Item
	choices []mmkp.Choice
	turns   []turn
	who     []int
	grow    []int
}

// Allocate shares the GPUs that are free, and those of flexible workers, among the jobs. It
// reads its arguments only. An ended context cuts the search of phase two short. Errors: what
// the jobs and pools cannot be, bad options. It costs a pass over the jobs, a sort of those
// that wait, and a knapsack of as many choices as elastic jobs have flexible workers.
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

// A round is a plan in the making. Its phases are for the jobs of one class at a time, last
// for those that come last: the heterogeneous ones. Source: Lyra §6, "with the lowest
// priority on the remaining servers after all other jobs are scheduled".
type round struct {
	*Allocator
	jobs []Job
	free Capacity // what is left
	o    Options
	plan *Plan

	waiting int // jobs that got nothing in phase one so far
}

// keep gives running jobs their base demand, and adds the GPUs of their flexible workers to
// those that are free. Source: Lyra §5.2, "the set of available resources refers to idle GPUs
// and GPUs being used by flexible workers".
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

// take gives job i so many more workers on side s.
func (r *round) take(i int, s Side, more int) {
	has := &r.plan.Grants[i].Has
	r.free[s].Free -= r.free[s].extra(&r.jobs[i], has[s], has[s]+more)
	has[s] += more
}

// elastic returns the elastic jobs of a class that have their base demand.
func (r *round) elastic(last bool) []int {
	r.who = r.who[:0]
	for i := range r.jobs {
		if j := &r.jobs[i]; j.Heterogeneous == last && j.Elastic() && r.plan.Grants[i].Why == Runs {
			r.who = append(r.who, i)
		}
	}
	return r.who
}
