package allocate

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// flexible is phase two: what is free in c goes to extra workers of elastic jobs that have
// their base demand, for the most running time saved. Source: Lyra §5.2, Fig. 6.
func (plan *Plan) flexible(ctx context.Context, jobs []Job, c Capacity, pause time.Duration) error {
	p, who := program(jobs, plan.Grants, c, pause)
	paid := 0.0 // if no job kept its extra workers
	o := mmkp.DefaultOptions()
	o.Gap = 0
	s, err := mmkp.Solve(ctx, p, nil, o)
	if err != nil {
		return err
	}
	for k, i := range who {
		if jobs[i].Workers > jobs[i].Min {
			paid += pause.Seconds()
		}
		if pick := s.Pick[k]; pick >= 0 {
			g := &plan.Grants[i]
			g.Workers += pick + 1
			c[g.On].Free -= c[g.On].extra(&jobs[i], g.Workers)
		}
	}
	plan.Left, plan.Saved, plan.Bound = c, s.Value-paid, s.Bound-paid
	copy(plan.Prices[:], s.Prices)
	return nil
}

// extra returns the GPUs of pool p that w workers of j occupy beyond the base demand.
func (p *Pool) extra(j *Job, w int) int { return p.need(j, w) - p.need(j, j.Min) }

// program is the knapsack: an item for every elastic job that has its base demand, a choice
// for each number of extra workers, from one. Who has the jobs of the items.
func program(jobs []Job, grants []Grant, c Capacity, pause time.Duration) (p *mmkp.Problem, who []int) {
	p = &mmkp.Problem{Capacity: make([]float64, sides)}
	for s := range c {
		p.Capacity[s] = float64(c[s].Free)
	}
	for i := range jobs {
		if j := &jobs[i]; j.Elastic() && grants[i].Workers > 0 {
			who = append(who, i)
			p.Items = append(p.Items, item(j, grants[i].On, &c[grants[i].On], pause.Seconds()))
		}
	}
	return p, who
}

// item has what each number of extra workers saves j, and the GPUs it takes. A change of
// workers costs the pause: of a job that has extra workers, to keep them is worth that much
// more; of one that runs with its base demand, to get some so much less.
func item(j *Job, s Side, pool *Pool, pause float64) mmkp.Item {
	var it mmkp.Item
	for w := j.Min + 1; w <= j.Max; w++ {
		value := j.saved(w)
		switch j.Workers {
		case w:
			value += pause
		case j.Min:
			value -= pause
		}
		use := mmkp.Use{Resource: int(s), Amount: float64(pool.extra(j, w))}
		it.Choices = append(it.Choices, mmkp.Choice{Value: value, Use: use})
	}
	return it
}
