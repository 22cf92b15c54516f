package multimode

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
)

type packing struct {
	p        *Problem
	pick     []count
	prices   []float64 // per unit and round
	favoured int       // job placed first; -1: none
	runs     []Run
	free     [][]int
	log      []step
	movers   []move
}

type step struct {
	job, mode, round int
	taken            bool
}

// place gives jobs their picked rounds, in one piece if possible, and the rest to jobs that gain.
func place(p *Problem, pick []count, prices []float64, favoured int) []Run {
	k := &packing{p: p, pick: pick, prices: prices, favoured: favoured, runs: slices.Repeat([]Run{{Mode: -1}}, len(p.Jobs))}
	for _, b := range p.Capacity {
		k.free = append(k.free, slices.Repeat([]int{b}, p.Rounds))
	}
	line := k.line()
	rest := k.first(line)
	for _, i := range rest {
		k.fit(i)
	}
	k.advance(rest)
	for _, i := range line {
		k.press(i)
	}
	for _, i := range line {
		k.tidy(i)
	}
	k.fill()
	return k.runs
}

func (k *packing) line() []int {
	var line []int
	for i := range k.pick {
		if k.pick[i].rounds > 0 {
			line = append(line, i)
		}
	}
	slices.SortStableFunc(line, func(a, b int) int {
		return cmp.Or(cmp.Compare(k.rank(a), k.rank(b)), cmp.Compare(k.p.gain(b, k.pick[b].mode, 0), k.p.gain(a, k.pick[a].mode, 0)))
	})
	return line
}

func (k *packing) rank(i int) int {
	switch {
	case i == k.favoured:
		return 0
	case k.p.Jobs[i].Held == k.pick[i].mode:
		return 1
	}
	return 2
}

func (p *Problem) gain(i, mode, n int) float64 {
	j := &p.Jobs[i]
	m := &j.Modes[mode]
	before := j.Idle.Value
	if n > 0 {
		before = m.After[n-1].Value
	}
	return (m.After[n].Value - before) / float64(m.Amount)
}

// first serves jobs with room from round 0 on, and returns the others, longest first.
func (k *packing) first(line []int) (rest []int) {
	for _, i := range line {
		if m := k.mode(i); k.free[m.Resource][0] >= m.Amount {
			k.run(i, ones(0, k.pick[i].rounds))
		} else {
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(rest, func(a, b int) int {
		return cmp.Or(cmp.Compare(k.pick[b].rounds, k.pick[a].rounds), cmp.Compare(k.mode(b).Amount, k.mode(a).Amount))
	})
	return rest
}

func (k *packing) mode(i int) *Mode { return &k.p.Jobs[i].Modes[k.pick[i].mode] }

func ones(first, n int) uint64 { return (1<<n - 1) << first }

// fit gives job i consecutive rounds, as late as possible behind jobs that stop, or the first with room. Earlier
// room suits shorter jobs.
func (k *packing) fit(i int) {
	if len(k.p.Jobs[i].Modes) > 1 && bits.OnesCount64(k.room(k.mode(i))) < k.pick[i].rounds {
		k.pick[i] = k.best(i)
	}
	m, n := k.mode(i), k.pick[i].rounds
	if n == 0 {
		return
	}
	free, room := k.free[m.Resource], k.room(m)
	first := -1
	for t := k.p.Rounds - n; t >= 0; t-- {
		if row := ones(t, n); room&row == row {
			if first = t; t > 0 && free[t]-free[t-1] >= m.Amount {
				break
			}
		}
	}
	if first >= 0 {
		k.run(i, ones(first, n))
		return
	}
	for ; n > 0 && room != 0; n-- {
		k.take(i, k.pick[i].mode, bits.TrailingZeros64(room))
		room &= room - 1
	}
}

func (k *packing) best(i int) count {
	j := &k.p.Jobs[i]
	var best count
	most := 0.0
	for n, at := range k.p.points(j) {
		m := &j.Modes[n.mode]
		worth := at.Value - j.Idle.Value - k.prices[m.Resource]*float64(m.Amount)*float64(n.rounds)
		if worth > most && bits.OnesCount64(k.room(m)) >= n.rounds {
			best, most = n, worth
		}
	}
	return best
}

func (k *packing) room(m *Mode) (rounds uint64) {
	for t, free := range k.free[m.Resource] {
		if free >= m.Amount {
			rounds |= 1 << t
		}
	}
	return rounds
}

// advance swaps jobs with shorter ones that they follow, because otherwise long jobs are always last.
func (k *packing) advance(rest []int) {
	for n, i := range rest {
		for next := 0; next >= 0; {
			if next = slices.IndexFunc(rest[n+1:], func(j int) bool { return k.follows(i, j) }); next >= 0 {
				k.change(i, rest[n+1+next])
			}
		}
	}
}

func (k *packing) follows(i, j int) bool {
	a, b := k.runs[i], k.runs[j]
	if a.Rounds == 0 || b.Rounds == 0 {
		return false
	}
	first, last := bits.TrailingZeros64(a.Rounds), bits.Len64(b.Rounds)
	return first == last && a.Rounds == ones(first, a.Count()) && b.Rounds == ones(last-b.Count(), b.Count()) &&
		k.mode(i).Resource == k.mode(j).Resource && k.mode(i).Amount == k.mode(j).Amount
}

func (k *packing) change(i, j int) {
	first := bits.TrailingZeros64(k.runs[j].Rounds)
	k.runs[i].Rounds = ones(first, k.runs[i].Count())
	k.runs[j].Rounds = ones(first+k.runs[i].Count(), k.runs[j].Count())
}

func (k *packing) run(i int, rounds uint64) {
	for ; rounds != 0; rounds &= rounds - 1 {
		k.take(i, k.pick[i].mode, bits.TrailingZeros64(rounds))
	}
}

func (k *packing) take(i, mode, t int) {
	m := &k.p.Jobs[i].Modes[mode]
	k.runs[i].Mode = mode
	k.runs[i].Rounds |= 1 << t
	k.free[m.Resource][t] -= m.Amount
	k.log = append(k.log, step{i, mode, t, true})
}

// drop removes round t from job i, which gets another in the same mode.
func (k *packing) drop(i, t int) {
	mode := k.runs[i].Mode
	m := &k.p.Jobs[i].Modes[mode]
	k.runs[i].Rounds &^= 1 << t
	k.free[m.Resource][t] += m.Amount
	k.log = append(k.log, step{i, mode, t, false})
}

func (k *packing) undo(first int) {
	for n := len(k.log) - 1; n >= first; n-- {
		if s := k.log[n]; s.taken {
			k.drop(s.job, s.round)
		} else {
			k.take(s.job, s.mode, s.round)
		}
	}
	k.log = k.log[:first]
}

// Remember lets m save or restore the state that s keeps between rounds.
func (s *Schedule) Remember(m *memory.Codec) {
	memory.Slice(m, &s.Runs, func(r *Run, m *memory.Codec) { m.Fields(&r.Mode, &r.Rounds) })
	m.Fields(&s.Value, &s.Bound, &s.Prices, &s.Solves, &s.Interrupted)
}

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
