package gavel

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// The rules of the copy of Gavel in the public simulator of Sia, for replays of its runs.
// Source: Sia simulator.
//
// Deviation: each of these differs from the paper, because that copy does.
//   - Throughputs are in steps of all of a job's replicas, so that the sum favours small jobs.
//   - The priority is the fraction over the part that the job had of all the time on the type,
//     since it came; half a round counts as had, and what was given is never taken off. Fractions
//     are rounded to five decimals.
//   - All jobs and types are in one line; a job with no fraction has what is left.

// welcome adds what a job that comes counts as had to the time that all had.
func (p publicRules) welcome(a *account) {
	if len(p.given) != len(p.types) {
		p.given = make([]float64, len(p.types))
	}
	for t, had := range a.had {
		p.given[t] += had
	}
}

// serveSiaCode serves jobs by priority, and charges them the round.
func (p publicRules) serveSiaCode(s *policy.Snapshot, r *grant.Round) {
	for _, e := range p.siaCodeLine() {
		if r.Decided(e.a.index) || !r.Grant(e.a.index, e.t) {
			continue
		}
		e.a.last = e.t
		e.a.had[e.t] += s.Length.Seconds()
		p.given[e.t] += s.Length.Seconds()
	}
}

// siaCodeLine sorts jobs and types.
func (p publicRules) siaCodeLine() []entry {
	const places = 1e5
	var line []entry
	for _, a := range p.active {
		for t, size := range a.size {
			if size > 0 {
				x := math.Round(a.x[t]*places) / places
				line = append(line, entry{a: a, t: t, keys: [3]float64{x / (a.had[t] / p.given[t]), x}})
			}
		}
	}
	slices.SortStableFunc(line, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.keys[0], a.keys[0]), cmp.Compare(b.keys[1], a.keys[1]))
	})
	return line
}
