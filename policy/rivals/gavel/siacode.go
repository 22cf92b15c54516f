package gavel

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// The rules of the copy of Gavel in Sia's public simulator, to replay its runs. Source: Sia
// simulator.
//
// Deviation: each of these differs from the paper, because that copy does.
//   - A step is a step of all replicas of a job, so that the sum favours small jobs.
//   - The priority is the fraction over the job's part of all time received on the type since it
//     came; half a round counts as received, and nothing is ever subtracted. Fractions are
//     rounded to five decimals.
//   - All pairs of job and type are in one line; a job with no fraction gets the rest.

func (p publicRules) welcome(a *account) {
	if len(p.allReceived) != len(p.types) {
		p.allReceived = make([]float64, len(p.types))
	}
	for t, had := range a.received {
		p.allReceived[t] += had
	}
}

func (p publicRules) serveSiaCode(s *policy.Snapshot, r *grant.Round) {
	for _, e := range p.siaCodeLine() {
		if r.Decided(e.a.index) || !r.Grant(e.a.index, e.t) {
			continue
		}
		e.a.last = e.t
		e.a.received[e.t] += s.Length.Seconds()
		p.allReceived[e.t] += s.Length.Seconds()
	}
}

func (p publicRules) siaCodeLine() []entry {
	const places = 1e5
	var line []entry
	for _, a := range p.active {
		for t, size := range a.size {
			if size > 0 {
				x := math.Round(a.x[t]*places) / places
				line = append(line, entry{a: a, t: t, keys: [3]float64{x / (a.received[t] / p.allReceived[t]), x}})
			}
		}
	}
	slices.SortStableFunc(line, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.keys[0], a.keys[0]), cmp.Compare(b.keys[1], a.keys[1]))
	})
	return line
}
