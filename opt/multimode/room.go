package multimode

import (
	"cmp"
	"slices"
)

// press gives job i missing rounds by moving jobs that lose less, preferably without a further start.
func (k *packing) press(i int) {
	k.log = k.log[:0]
	mode, n := k.pick[i].mode, k.pick[i].rounds
	m := k.mode(i)
	for starts := -1; starts <= 1; starts++ {
		for t := 0; t < k.p.Rounds && k.runs[i].Count() < n; t++ {
			more := k.more(i, mode, t)
			if k.runs[i].In(t) || more > starts {
				continue
			}
			if _, ok := k.makeRoom(m, t, k.lack(i)-k.p.Jobs[i].Again*float64(more)); ok {
				k.take(i, mode, t)
			}
		}
	}
}

func (k *packing) lack(i int) float64 {
	j := &k.p.Jobs[i]
	now, then := j.at(k.runs[i]), k.mode(i).After[k.pick[i].rounds-1]
	return then.Value - now.Value + k.p.Lambda*max(0, now.Left-then.Left, now.Load-then.Load)
}

func (k *packing) more(i, mode, t int) int {
	j := &k.p.Jobs[i]
	return j.further(Run{mode, k.runs[i].Rounds | 1<<t}) - j.further(k.runs[i])
}

type move struct {
	job, to int
	cost    float64
}

// makeRoom moves jobs until a mode fits in round t, and returns the cost, or moves nothing if not below limit.
func (k *packing) makeRoom(m *Mode, t int, limit float64) (cost float64, ok bool) {
	free := k.free[m.Resource]
	if free[t] >= m.Amount {
		return 0, true
	}
	k.movers = k.movers[:0]
	for v := range k.runs {
		if best := k.elsewhere(v, m.Resource, t); best.to >= 0 && best.cost < limit {
			k.movers = append(k.movers, best)
		}
	}
	slices.SortStableFunc(k.movers, func(a, b move) int { return cmp.Compare(a.cost, b.cost) })
	before := len(k.log)
	for _, v := range k.movers {
		if free[t] >= m.Amount || cost >= limit {
			break
		}
		if v = k.elsewhere(v.job, m.Resource, t); v.to >= 0 {
			k.shift(v.job, t, v.to)
			cost += v.cost
		}
	}
	if free[t] < m.Amount || cost >= limit {
		k.undo(before)
		return 0, false
	}
	return cost, true
}

func (k *packing) elsewhere(v, resource, t int) move {
	best := move{job: v, to: -1}
	r := k.runs[v]
	if !r.In(t) || k.p.Jobs[v].Modes[r.Mode].Resource != resource {
		return best
	}
	j := &k.p.Jobs[v]
	m := &j.Modes[r.Mode]
	for to, free := range k.free[resource] {
		if free < m.Amount || r.In(to) {
			continue
		}
		starts := j.further(Run{r.Mode, r.Rounds ^ (1<<t | 1<<to)}) - j.further(r)
		if cost := j.Again * float64(starts); best.to < 0 || cost < best.cost {
			best.to, best.cost = to, cost
		}
	}
	return best
}

func (k *packing) shift(v, from, to int) {
	mode := k.runs[v].Mode
	k.drop(v, from)
	k.take(v, mode, to)
}
