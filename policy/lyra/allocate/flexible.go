package allocate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/opt/mmkp"
)

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

// bySaving gives extra workers for the most running time saved, to heterogeneous jobs on loan first. Source:
// Lyra §5.2, Fig. 6; §6, "flexible demands on inference servers whenever possible".
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

func (r *round) side(i int) Side {
	if r.plan.Grants[i].Has[Loaned] > 0 {
		return Loaned
	}
	return Training
}

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

func best(choices []mmkp.Choice) (at int, ok bool) {
	top := 0.0
	for c := range choices {
		if v := choices[c].Value; v > top {
			at, top, ok = c, v, true
		}
	}
	return at, ok
}

func (r *round) solve(ctx context.Context) (*mmkp.Solution, error) {
	if s, ok := r.all(); ok {
		return s, nil
	}
	free := []float64{float64(r.free[Training].Free), float64(r.free[Loaned].Free)}
	o := mmkp.DefaultOptions()
	o.Gap = 0
	return r.solver.Solve(ctx, &mmkp.Problem{Capacity: free, Items: r.items}, nil, o)
}

func (r *round) paid(i int, s Side) {
	if j := &r.jobs[i]; j.Has[s] > r.plan.Grants[i].Has[s] {
		r.plan.Saved -= r.pause(j)
		r.plan.Bound -= r.pause(j)
	}
}

func (r *round) note(s *mmkp.Solution) {
	r.plan.Saved += s.Value
	r.plan.Bound += s.Bound
	for k, price := range s.Prices {
		r.plan.Prices[k] = max(r.plan.Prices[k], price)
	}
}

// item has a choice for each number of extra workers on side s that fits: the time saved, and the GPUs. A
// change of workers costs the pause. So a job's present extra workers are worth that much more, and extra
// workers for a job without any that much less.
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

func (r *round) pause(j *Job) float64 {
	if !j.runs() {
		return 0
	}
	return r.o.Pause.Seconds()
}

// base is phase one for a class: waiting jobs get their base demand, the shortest first. A job that does not fit is
// passed over, or with FIFO blocks all behind it. Source: Lyra §5.2, "we schedule job j* with the smallest running
// time".
func (r *round) base(last bool) {
	stopped := false
	for _, t := range r.line(last) {
		r.plan.Ahead[t.job] = r.waiting
		switch w, fits := r.split(t.job, r.free.idle()); {
		case stopped:
			r.plan.Grants[t.job].Why = Behind
			r.waiting++
		case fits:
			r.start(t.job, w)
		default:
			r.plan.Grants[t.job].Why = NoRoom
			r.waiting++
			stopped = r.o.Order == FIFO && r.everFits(t.job)
		}
	}
}

func (r *round) start(i int, w Workers) {
	for s, n := range w {
		r.take(i, Side(s), n)
	}
	r.plan.Grants[i].Why = Runs
}

func (r *round) everFits(i int) bool {
	_, ok := r.split(i, r.free.total())
	return ok
}

type turn struct {
	job  int
	time time.Duration
}

func (r *round) line(last bool) []turn {
	all := r.turns[:0]
	for i := range r.jobs {
		if j := &r.jobs[i]; j.Heterogeneous == last && !j.runs() {
			all = append(all, turn{job: i, time: j.shortest()})
		}
	}
	if r.o.Order != FIFO {
		slices.SortFunc(all, turn.compare)
	}
	r.turns = all
	return all
}

func (t turn) compare(other turn) int {
	if t.time != other.time {
		return cmp.Compare(t.time, other.time)
	}
	return cmp.Compare(t.job, other.job)
}

type room [sides]int

func (c *Capacity) total() room { return room{c[Training].Total, c[Loaned].Total} }

func (c *Capacity) idle() room { return room{c[Training].Free, c[Loaned].Free} }

// split returns where job i's base demand fits: on its first preferred side. A heterogeneous job takes what fits on
// training, and the rest on loan. Source: Lyra §6, "their base demands are placed on training servers".
func (r *round) split(i int, in room) (w Workers, ok bool) {
	j, c := &r.jobs[i], &r.free
	if j.Heterogeneous {
		own := min(j.Min, c[Training].hosts(j, in[Training]))
		return Workers{own, j.Min - own}, c[Loaned].need(j, j.Min-own) <= in[Loaned]
	}
	for _, s := range j.prefers(&r.o) {
		if c[s].need(j, j.Min) <= in[s] {
			w[s] = j.Min
			return w, true
		}
	}
	return w, false
}
