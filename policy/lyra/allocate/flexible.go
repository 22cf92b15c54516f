package allocate

import (
	"context"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// flexible is phase two for the jobs of a class: what is free goes to extra workers of
// elastic jobs that have their base demand.
func (r *round) flexible(ctx context.Context, last bool) error {
	who := r.elastic(last)
	switch r.o.Growth {
	case None:
	case Gandiva:
		r.inTurn(who)
	case AFS:
		r.byGain(who)
	case Knapsack, "":
		return r.bySaving(ctx, who, last)
	}
	return nil
}

// bySaving gives extra workers for the most running time saved: those of heterogeneous jobs on
// loan whenever possible. Source: Lyra §5.2, Fig. 6; §6, "flexible demands on inference
// servers whenever possible".
func (r *round) bySaving(ctx context.Context, who []int, last bool) error {
	if !last {
		return r.pack(ctx, who, r.side)
	}
	for _, s := range loanedFirst {
		if err := r.pack(ctx, who, func(int) Side { return s }); err != nil {
			return err
		}
	}
	return nil
}

// side returns where all workers of job i are.
func (r *round) side(i int) Side {
	if r.plan.Grants[i].Has[Loaned] > 0 {
		return Loaned
	}
	return Training
}

// pack solves a knapsack: an item for every job that may grow, a choice for each number of
// extra workers that fits, from one.
func (r *round) pack(ctx context.Context, who []int, where func(i int) Side) error {
	r.grow, r.items, r.choices = r.grow[:0], r.items[:0], r.choices[:0]
	for _, i := range who {
		s := where(i)
		if it := r.item(i, s); len(it.Choices) > 0 {
			r.grow, r.items = append(r.grow, i), append(r.items, it)
		}
		r.paid(i, s)
	}
	if len(r.grow) == 0 {
		return nil
	}
	s, err := r.solve(ctx)
	if err != nil {
		return err
	}
	for k, i := range r.grow {
		if s.Pick[k] >= 0 {
			r.take(i, where(i), s.Pick[k]+1)
		}
	}
	r.note(s)
	return nil
}

// all returns the solution of the knapsack in which every item has its best choice, if that is worth something, and all
// of them fit; then nothing has a price. It is that of the solver, which takes longer.
func (r *round) all() (*mmkp.Solution, bool) {
	var used room
	s := &mmkp.Solution{Pick: make([]int, len(r.items))}
	for k := range r.items {
		c, ok := best(r.items[k].Choices)
		if !ok {
			return nil, false
		}
		s.Pick[k], s.Value = c, s.Value+r.items[k].Choices[c].Value
		used[r.items[k].Choices[c].Use.Resource] += int(r.items[k].Choices[c].Use.Amount)
	}
	s.Bound = s.Value
	return s, used[Training] <= r.free[Training].Free && used[Loaned] <= r.free[Loaned].Free
}

// best returns the choice of the highest value, the first of them, if that is more than nothing.
func best(choices []mmkp.Choice) (at int, ok bool) {
	top := 0.0
	for c := range choices {
		if v := choices[c].Value; v > top {
			at, top, ok = c, v, true
		}
	}
	return at, ok
}

// solve solves the knapsack of the items.
func (r *round) solve(ctx context.Context) (*mmkp.Solution, error) {
	if s, ok := r.all(); ok {
		return s, nil
	}
	free := []float64{float64(r.free[Training].Free), float64(r.free[Loaned].Free)}
	o := mmkp.DefaultOptions()
	o.Gap = 0
	return r.solver.Solve(ctx, &mmkp.Problem{Capacity: free, Items: r.items}, nil, o)
}

// paid counts the pause of job i if it has extra workers on side s, as if it lost them all.
func (r *round) paid(i int, s Side) {
	if j := &r.jobs[i]; j.Has[s] > r.plan.Grants[i].Has[s] {
		r.plan.Saved -= r.pause(j)
		r.plan.Bound -= r.pause(j)
	}
}

// note adds a solution's figures to those of the plan.
func (r *round) note(s *mmkp.Solution) {
	r.plan.Saved += s.Value
	r.plan.Bound += s.Bound
	for k, price := range s.Prices {
		r.plan.Prices[k] = max(r.plan.Prices[k], price)
	}
}

// item has what each number of extra workers on side s saves job i, and the GPUs it takes, as
// far as those are free. A change of workers costs the pause: of a job that has extra
// workers, to keep them is worth that much more; of one that runs without, to get some so
// much less.
func (r *round) item(i int, s Side) mmkp.Item {
	j, has, pool := &r.jobs[i], r.plan.Grants[i].Has, &r.free[s]
	first, least := len(r.choices), pool.need(j, has[s])
	before, pause := 1/j.pace(has), r.pause(j)
	for to := has; to.Total() < j.Max; {
		to[s]++
		gpus := pool.need(j, to[s]) - least
		if gpus > pool.Free {
			break
		}
		value := j.Work.Seconds() * (before - 1/j.pace(to))
		switch j.Has[s] {
		case to[s]:
			value += pause
		case has[s]:
			value -= pause
		}
		r.choices = append(r.choices, mmkp.Choice{Value: value, Use: mmkp.Use{Resource: int(s), Amount: float64(gpus)}})
	}
	return mmkp.Item{Choices: r.choices[first:len(r.choices):len(r.choices)]}
}

// pause returns the seconds that a change of workers costs j: nothing if it waits.
func (r *round) pause(j *Job) float64 {
	if !j.runs() {
		return 0
	}
	return r.o.Pause.Seconds()
}
