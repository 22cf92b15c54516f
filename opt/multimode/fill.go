package multimode

import (
	"cmp"
	"slices"
)

type extra struct {
	job, mode int
	gain      float64
}

func (k *packing) fill() {
	var line []extra
	for more := true; more; {
		more = false
		for t := range k.p.Rounds {
			line = k.extras(line[:0], t)
			for _, e := range line {
				if m := &k.p.Jobs[e.job].Modes[e.mode]; k.free[m.Resource][t] >= m.Amount {
					k.take(e.job, e.mode, t)
					more = true
				}
			}
		}
	}
}

func (k *packing) extras(line []extra, t int) []extra {
	if !slices.ContainsFunc(k.free, func(free []int) bool { return free[t] > 0 }) {
		return line
	}
	for i := range k.runs {
		if e := k.extra(i, t); e.gain > 0 {
			line = append(line, e)
		}
	}
	slices.SortStableFunc(line, func(a, b extra) int { return cmp.Compare(b.gain, a.gain) })
	return line
}

// extra returns the mode with the largest gain per unit of resource if job i also runs in round t.
func (k *packing) extra(i, t int) extra {
	best := extra{job: i}
	r := k.runs[i]
	if r.In(t) {
		return best
	}
	j, n := &k.p.Jobs[i], r.Count()
	for m := range j.Modes {
		mode := &j.Modes[m]
		if n > 0 && m != r.Mode || n >= len(mode.After) || k.free[mode.Resource][t] < mode.Amount {
			continue
		}
		gain := k.p.least(j.at(r), mode.After[n]) - j.Again*float64(k.more(i, m, t))
		if gain /= float64(mode.Amount); gain > best.gain {
			best.mode, best.gain = m, gain
		}
	}
	return best
}

// least returns a lower bound of the gain from state a to b: the last term rises only if the job has more left.
func (p *Problem) least(a, b Point) float64 {
	return b.Value - a.Value - p.Lambda*max(0, b.Left-a.Left, b.Load-a.Load)
}
