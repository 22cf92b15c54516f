package timetable

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A packing is rounds being given out.
type packing struct {
	p          *Problem
	runs       []Run
	free       [][]int // by resource and round
	all, moved []move  // of makeRoom
	line       []int   // jobs, those first that go on, then who gains most from its first round
}

// place gives jobs the rounds that were picked for them, as early as can be and in
// one piece if there is room, or in several, or fewer if there is none. What is left
// goes to whoever gains most from it, so that nothing is idle that a job could use.
func place(p *Problem, pick []count) []Run {
	k := &packing{p: p, runs: make([]Run, len(p.Jobs))}
	for _, b := range p.Capacity {
		k.free = append(k.free, slices.Repeat([]int{b}, p.Rounds))
	}
	for i := range pick {
		k.runs[i].Mode = -1
		if pick[i].rounds > 0 {
			k.line = append(k.line, i)
		}
	}
	slices.SortStableFunc(k.line, func(a, b int) int {
		return cmp.Or(p.goesOn(b, pick[b])-p.goesOn(a, pick[a]), cmp.Compare(p.gain(b, pick[b].mode, 0), p.gain(a, pick[a].mode, 0)))
	})
	rest := k.line[:0:0]
	for _, i := range k.line { // who runs first
		if m := &p.Jobs[i].Modes[pick[i].mode]; k.free[m.Resource][0] >= m.Amount {
			k.put(i, pick[i])
		} else {
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(rest, func(a, b int) int {
		return cmp.Or(cmp.Compare(pick[b].rounds, pick[a].rounds), cmp.Compare(p.amount(b, pick[b]), p.amount(a, pick[a])))
	})
	for _, i := range rest {
		k.put(i, pick[i])
	}
	for _, i := range k.line {
		k.press(i, pick[i])
	}
	for _, i := range k.line {
		k.tidy(i)
	}
	k.fill()
	return k.runs
}

// goesOn returns 1 for a job that is picked to run as it does, 0 for others.
func (p *Problem) goesOn(i int, c count) int {
	if p.Jobs[i].Held == c.mode {
		return 1
	}
	return 0
}

// gain returns what one more round than n is worth to job i, for each unit it uses.
func (p *Problem) gain(i, mode, n int) float64 {
	j := &p.Jobs[i]
	m := &j.Modes[mode]
	before := j.Idle.Value
	if n > 0 {
		before = m.After[n-1].Value
	}
	return (m.After[n].Value - before) / float64(m.Amount)
}

// put gives job i its rounds.
func (k *packing) put(i int, c count) {
	m := &k.p.Jobs[i].Modes[c.mode]
	room := k.room(m)
	if at := k.piece(room, c.rounds); at >= 0 {
		for t := at; t < at+c.rounds; t++ {
			k.take(i, c.mode, t)
		}
		return
	}
	for t := 0; t < k.p.Rounds && k.runs[i].Count() < c.rounds; t++ {
		if room>>t&1 == 1 {
			k.take(i, c.mode, t)
		}
	}
}

// room returns the rounds in which there is enough for a mode.
func (k *packing) room(m *Mode) (rounds uint64) {
	for t, free := range k.free[m.Resource] {
		if free >= m.Amount {
			rounds |= 1 << t
		}
	}
	return rounds
}

// piece returns where the first n rounds in a row begin; -1 if there are none.
func (k *packing) piece(room uint64, n int) int {
	length := 0
	for t := range k.p.Rounds {
		if room>>t&1 == 0 {
			length = 0
			continue
		}
		if length++; length == n {
			return t - n + 1
		}
	}
	return -1
}

// take runs job i in round t.
func (k *packing) take(i, mode, t int) {
	m := &k.p.Jobs[i].Modes[mode]
	k.runs[i].Mode = mode
	k.runs[i].Rounds |= 1 << t
	k.free[m.Resource][t] -= m.Amount
}

// drop takes round t from job i.
func (k *packing) drop(i, t int) {
	m := &k.p.Jobs[i].Modes[k.runs[i].Mode]
	k.runs[i].Rounds &^= 1 << t
	k.free[m.Resource][t] += m.Amount
}

// An extra is a round more for a job.
type extra struct {
	job, mode int
	gain      float64
}

// fill gives out what is left, round by round.
func (k *packing) fill() {
	var line []extra
	for t := range k.p.Rounds {
		line = line[:0]
		for i := range k.runs {
			if e := k.extra(i, t); e.mode >= 0 {
				line = append(line, e)
			}
		}
		slices.SortStableFunc(line, func(a, b extra) int { return cmp.Compare(b.gain, a.gain) })
		for _, e := range line {
			if m := &k.p.Jobs[e.job].Modes[e.mode]; k.free[m.Resource][t] >= m.Amount {
				k.take(e.job, e.mode, t)
			}
		}
	}
}

// extra returns the mode in which job i gains most, for each unit it uses, from
// running in round t too; mode -1 if in none.
func (k *packing) extra(i, t int) extra {
	best := extra{job: i, mode: -1}
	if k.runs[i].In(t) {
		return best
	}
	n := k.runs[i].Count()
	for m := range k.p.Jobs[i].Modes {
		mode := &k.p.Jobs[i].Modes[m]
		if n > 0 && m != k.runs[i].Mode || n >= len(mode.After) || k.free[mode.Resource][t] < mode.Amount {
			continue
		}
		gain := k.p.gain(i, m, n) - k.p.Jobs[i].Again*float64(k.more(i, m, t))/float64(mode.Amount)
		if gain > 0 && (best.mode < 0 || gain > best.gain) {
			best.mode, best.gain = m, gain
		}
	}
	return best
}

// more returns the further starts that job i has if it runs in round t too.
func (k *packing) more(i, mode, t int) int {
	j := &k.p.Jobs[i]
	return j.further(Run{mode, k.runs[i].Rounds | 1<<t}) - j.further(k.runs[i])
}

func (p *Problem) amount(i int, c count) int { return p.Jobs[i].Modes[c.mode].Amount }

// press gives job i the rounds that it lacks, where others can go to other rounds: if
// it can be, where it need not start anew.
func (k *packing) press(i int, c count) {
	m := &k.p.Jobs[i].Modes[c.mode]
	k.moved = k.moved[:0]
	for starts := -1; starts <= 1; starts++ {
		for t := 0; t < k.p.Rounds && k.runs[i].Count() < c.rounds; t++ {
			if !k.runs[i].In(t) && k.more(i, c.mode, t) <= starts && k.makeRoom(m, t, math.Inf(1)) {
				k.take(i, c.mode, t)
			}
		}
	}
}

// tidy moves pieces of job i next to others of it, if other jobs lose less by that.
func (k *packing) tidy(i int) {
	j := &k.p.Jobs[i]
	for _, piece := range pieces(k.runs[i].Rounds) {
		for _, to := range beside(k.runs[i].Rounds&^piece, piece, k.p.Rounds) {
			r := k.runs[i]
			if fewer := j.further(r) - j.further(Run{r.Mode, r.Rounds&^piece | to}); r.Rounds&piece == piece && fewer > 0 {
				k.transfer(i, piece, to, j.Again*float64(fewer))
			}
		}
	}
}

// pieces returns the runs of rounds in a row.
func pieces(rounds uint64) []uint64 {
	var all []uint64
	for rounds != 0 {
		low := uint64(1) << bits.TrailingZeros64(rounds)
		piece := rounds &^ (rounds + low)
		all = append(all, piece)
		rounds &^= piece
	}
	return all
}

// beside returns where a piece could go: before and after each of the others, and to
// the first round.
func beside(others, piece uint64, rounds int) []uint64 {
	all := uint64(1)<<rounds - 1
	n := bits.OnesCount64(piece)
	piece >>= bits.TrailingZeros64(piece)
	places := []uint64{piece}
	for _, other := range pieces(others) {
		first := bits.TrailingZeros64(other)
		places = append(places, piece<<(first+bits.OnesCount64(other)))
		if first >= n {
			places = append(places, piece<<(first-n))
		}
	}
	return slices.DeleteFunc(places, func(p uint64) bool { return p&others != 0 || p&^all != 0 })
}

// transfer moves a piece of job i elsewhere if that costs others less than a limit.
func (k *packing) transfer(i int, piece, to uint64, limit float64) {
	mode := k.runs[i].Mode
	m := &k.p.Jobs[i].Modes[mode]
	k.moved = k.moved[:0]
	k.each(piece, func(t int) { k.drop(i, t) })
	fits := true
	k.each(to, func(t int) {
		if fits = fits && k.makeRoom(m, t, limit-k.cost()); fits {
			k.take(i, mode, t)
		}
	})
	if fits {
		return
	}
	k.each(to&k.runs[i].Rounds, func(t int) { k.drop(i, t) })
	k.undo(0)
	k.each(piece, func(t int) { k.take(i, mode, t) })
}

// each calls f with each of the rounds.
func (k *packing) each(rounds uint64, f func(t int)) {
	for t := range k.p.Rounds {
		if rounds>>t&1 == 1 {
			f(t)
		}
	}
}

// cost returns what the moves cost so far.
func (k *packing) cost() float64 {
	total := 0.0
	for _, m := range k.moved {
		total += m.cost
	}
	return total
}

// undo takes moves back, all but the first ones.
func (k *packing) undo(first int) {
	for n := len(k.moved) - 1; n >= first; n-- {
		k.shift(k.moved[n].job, k.moved[n].to, k.moved[n].from)
	}
	k.moved = k.moved[:first]
}

// A move of a job to another round, and what it costs.
type move struct {
	job, from, to int
	cost          float64
}

// makeRoom moves jobs to other rounds until there is enough for a mode in round t, and
// reports whether that costs less than a limit; if not, nobody is moved.
func (k *packing) makeRoom(m *Mode, t int, limit float64) bool {
	free := k.free[m.Resource]
	if free[t] >= m.Amount {
		return true
	}
	k.all = k.all[:0]
	for v := range k.runs {
		if best := k.elsewhere(v, m.Resource, t); best.to >= 0 && best.cost < limit {
			k.all = append(k.all, best)
		}
	}
	slices.SortStableFunc(k.all, func(a, b move) int { return cmp.Compare(a.cost, b.cost) })
	first, cost := len(k.moved), 0.0
	for _, v := range k.all {
		if again := k.elsewhere(v.job, m.Resource, t); again.to >= 0 && free[t] < m.Amount && cost < limit {
			k.shift(v.job, t, again.to)
			k.moved = append(k.moved, again)
			cost += again.cost
		}
	}
	if free[t] >= m.Amount && cost < limit {
		return true
	}
	k.undo(first)
	return false
}

// elsewhere returns the cheapest move of job v from round t to where there is room; to
// is -1 if there is none.
func (k *packing) elsewhere(v, resource, t int) move {
	best := move{job: v, from: t, to: -1}
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

// shift moves job v from one round to another.
func (k *packing) shift(v, from, to int) {
	mode := k.runs[v].Mode
	k.drop(v, from)
	k.take(v, mode, to)
}
