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
		return nil
	case Gandiva:
		r.inTurn(who)
		return nil
	case AFS:
		r.byGain(who)
		return nil
	}
	return r.bySaving(ctx, who, last)
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
	p := &mmkp.Problem{Capacity: []float64{float64(r.free[Training].Free), float64(r.free[Loaned].Free)}}
	var grow []int
	for _, i := range who {
		if it := r.item(i, where(i)); len(it.Choices) > 0 {
			grow, p.Items = append(grow, i), append(p.Items, it)
		}
		r.paid(i, where(i))
	}
	if len(grow) == 0 {
		return nil
	}
	o := mmkp.DefaultOptions()
	o.Gap = 0
	s, err := mmkp.Solve(ctx, p, nil, o)
	if err != nil {
		return err
	}
	for k, i := range grow {
		if s.Pick[k] >= 0 {
			r.take(i, where(i), s.Pick[k]+1)
		}
	}
	r.note(s)
	return nil
}

// paid counts the pause of job i if it has extra workers on side s, as if it lost them all.
func (r *round) paid(i int, s Side) {
	if j := &r.jobs[i]; j.runs() && j.Has[s] > r.plan.Grants[i].Has[s] {
		r.plan.Saved -= r.o.Pause.Seconds()
		r.plan.Bound -= r.o.Pause.Seconds()
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
func (r *round) item(i int, s Side) (it mmkp.Item) {
	j, has := &r.jobs[i], r.plan.Grants[i].Has
	pause, pool := r.o.Pause.Seconds(), &r.free[s]
	for to := has; to.Total() < j.Max; {
		to[s]++
		gpus := pool.extra(j, has[s], to[s])
		if gpus > pool.Free {
			break
		}
		value := j.saved(has, to)
		switch {
		case !j.runs():
		case j.Has[s] == to[s]:
			value += pause
		case j.Has[s] == has[s]:
			value -= pause
		}
		it.Choices = append(it.Choices, mmkp.Choice{Value: value, Use: mmkp.Use{Resource: int(s), Amount: float64(gpus)}})
	}
	return it
}
