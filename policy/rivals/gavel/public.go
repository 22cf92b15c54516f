package gavel

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/barrier"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// The rules of the public simulators of Gavel and of Shockwave, to replay their runs. Source: Gavel simulator;
// Shockwave simulator.
//
// Deviation: each of these differs from the paper, because the simulators do.
//   - Fractions are recomputed only if jobs came or left and Reset has passed since a solution
//     other than the first. Until then a new job waits.
//   - The priority is the fraction over the job's part of all time received on the type since the
//     last solution; half a round counts as received. Ties go by the debt at the last solution,
//     then by fraction.
//   - A job is charged for the full steps of a round, even after a restart, unless it uses up its round.
//   - A job runs on the first type with room, in the cluster's order.
//   - Programs end where the public solver does (Options.Public): for the makespan at any point
//     that meets a bisection to 5 %.
//   - The progress in ftf is the decrease of remaining steps, even if a larger batch size caused
//     it.
//   - Equal shares of stride may exceed capacity; gangs matched by allox never count as running.

type publicRules struct{ *Policy }

func (p publicRules) settlePublic() {
	for _, a := range p.active {
		if a.last >= 0 {
			a.received[a.last] += a.charge
		}
		a.before, a.last = a.last, -1
	}
}

// lossMargin is the most unused seconds of a round with which a job still loses restart time. Source: Shockwave
// simulator.
const lossMargin = 5

func (p publicRules) charge(a *account, t int, round float64) float64 {
	steps := math.Floor(a.rate[t] * round)
	if left := a.left(); left > 0 {
		steps = math.Min(steps, left)
	}
	time := steps / a.rate[t]
	if a.before != t && time > round-lossMargin && p.rounds > 0 {
		time -= p.o.Loss.Seconds()
	}
	return max(0, time)
}

func (p publicRules) restart(s *policy.Snapshot) {
	passed := 0.0
	if !p.solved.IsZero() {
		passed = s.Now.Sub(p.solved).Seconds()
	}
	half := s.Length.Seconds() / 2
	for _, a := range p.active {
		for t := range p.types {
			a.owed[t] += a.x[t]*passed - (a.received[t] - half)
			a.received[t] = half
		}
	}
}

func (p publicRules) servePublic(s *policy.Snapshot, r *grant.Round) {
	for t := range p.types {
		for _, e := range p.publicLine(t) {
			if !r.Decided(e.a.index) && r.Grant(e.a.index, t) {
				e.a.last, e.a.charge = t, p.charge(e.a, t, s.Length.Seconds())
			}
		}
	}
}

func (p publicRules) publicLine(t int) []entry {
	var line []entry
	all := 0.0
	for _, a := range p.active {
		all += a.received[t]
	}
	for _, a := range p.active {
		if a.size[t] == 0 || !a.solved {
			continue
		}
		priority := 1e9 * a.x[t]
		if a.received[t] > 0 {
			priority = a.x[t] / (a.received[t] / all)
		}
		line = append(line, entry{a: a, t: t, keys: [3]float64{priority, a.owed[t], a.x[t]}})
	}
	slices.SortStableFunc(line, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.keys[0], a.keys[0]), cmp.Compare(b.keys[1], a.keys[1]), cmp.Compare(b.keys[2], a.keys[2]))
	})
	return line
}

const (
	leastMakespan = 100
	mostMakespan  = 1e6
	makespanRatio = 1.05
)

func (p publicRules) bisect(g *barrier.Program, best *barrier.Solution) {
	low, high := float64(leastMakespan), float64(mostMakespan)
	for makespanRatio*low < high {
		if mid := (low + high) / 2; mid*best.Level >= 1 {
			high = mid
		} else {
			low = mid
		}
	}
	for i := range g.Items {
		g.Items[i].Least /= high
	}
	last := p.best(g)
	if !last.Feasible {
		last = best
	}
	p.take(last)
	p.outcome.objective, p.outcome.bound, p.outcome.prices = high, inverse(best.Bound), nil
}

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
