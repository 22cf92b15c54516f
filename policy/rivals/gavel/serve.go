package gavel

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type entry struct {
	a     *account
	t     int
	keys  [3]float64
	spare bool // nothing is owed there
	holds bool
}

const negligible = 1e-6

// serve grants GPUs in order, to jobs that fit. Source: Gavel §5.
func (p *Policy) serve(s *policy.Snapshot, r *grant.Round, begins bool) {
	switch {
	case p.o.Rules == PublicCode:
		publicRules{p}.servePublic(s, r)
		return
	case p.o.Rules == SiaCode:
		publicRules{p}.serveSiaCode(s, r)
		return
	case !begins:
		r.KeepRunning()
	default:
		r.KeepUnsaved()
	}
	p.recordKept(r)
	for _, e := range p.line(s) {
		if !r.Decided(e.a.index) && r.Grant(e.a.index, e.t) {
			e.a.last = e.t
		}
	}
}

// line sorts pairs of job and type by the time owed at the end of the turn. GPUs owed to no job go to the jobs
// that are owed most elsewhere.
//
// Deviation: priorities are time due minus time received, not their ratio since the last solution (Gavel §5),
// because solutions follow each change, and small fractions would never have their turn.
func (p *Policy) line(s *policy.Snapshot) []entry {
	round := p.span(s).Seconds()
	var line []entry
	for _, a := range p.active {
		total, held := 0.0, p.typeOf(a)
		for t := range p.types {
			total += a.owed[t] + a.x[t]*round
		}
		for t, size := range a.size {
			if size == 0 {
				continue
			}
			e := entry{a: a, t: t, holds: t == held, keys: [3]float64{a.owed[t] + a.x[t]*round}}
			if a.x[t] < negligible {
				e.spare, e.keys = true, [3]float64{total, a.rate[t]}
			}
			line = append(line, e)
		}
	}
	slices.SortStableFunc(line, func(a, b entry) int {
		return cmp.Or(cmp.Compare(rank(a.spare), rank(b.spare)), cmp.Compare(b.keys[0], a.keys[0]),
			cmp.Compare(rank(b.holds), rank(a.holds)), cmp.Compare(b.keys[1], a.keys[1]))
	})
	return line
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}
