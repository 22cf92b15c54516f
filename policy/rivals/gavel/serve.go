package gavel

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// An entry is a job and a GPU type that might serve it in this round.
type entry struct {
	a     *account
	t     int
	keys  [3]float64 // larger comes first
	spare bool       // it is owed nothing there: after everyone who is
	holds bool
}

// little is the fraction below which a fraction counts as 0: an interior point leaves such
// values. A fraction of this size means one turn in 10^6 rounds.
const little = 1e-6

// serve gives GPUs to jobs, in the order of the mechanism; who does not fit is
// passed over. Source: Gavel §5.
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
	p.kept(r)
	for _, e := range p.line(s) {
		if !r.Decided(e.a.index) && r.Grant(e.a.index, e.t) {
			e.a.last = e.t
		}
	}
}

// line sorts jobs and types by what will be owed at the end of the round, or of the turn if that is
// longer, if the job does not run in it. Behind them, GPUs that are owed to no job go to the jobs
// that are owed most elsewhere, each on its fastest type.
//
// Deviation: priorities are the difference between the time that a job was to have
// and had, not their ratio since the fractions were last found (Gavel §5), because
// those are found at each change: with a ratio that starts anew each time, small
// fractions would never have their turn. With fractions that do not change, the two
// give the same shares.
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
			if a.x[t] < little {
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

// rank orders false before true.
func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}
