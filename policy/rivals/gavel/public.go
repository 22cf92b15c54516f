package gavel

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/barrier"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// The rules of the public simulators of Gavel and of Shockwave, which holds a copy
// of it, for replays of their runs. Source: Gavel simulator; Shockwave simulator.
//
// Deviation: each of these differs from the paper, because the simulators do.
//   - Fractions are found again only if jobs came or left and Reset has passed, which
//     does not count after the first solution. A job that came since waits, though GPUs
//     may be free.
//   - The priority is the fraction over the part that the job had of the time which
//     all jobs had on the type since then; half a round counts as had. Equal ones
//     go by what the job was owed when fractions were found, then by fraction.
//   - A job is charged the whole steps it does in a round, and not the time that it
//     lost to a restart; that time is lost only to a job that uses up its round.
//   - Types are served one after the other, in the cluster's order: a job runs on the
//     first that has room for it, though its time is to be on another.
//   - Programs end where the public solver does (Options.Public), which for maxmin
//     and sum is an optimum, for the makespan anything that meets a bisection to 5 %.
//   - What ftf believes a job has done are the steps that it has fewer left, though a
//     larger batch size makes them fewer too.
//   - Equal shares of stride may add up to more than there is; gangs matched by allox
//     have their part of the time, and never count as running.

// publicRules follows the rules of public code.
type publicRules struct{ *Policy }

// settlePublic charges the jobs for the last round.
func (p publicRules) settlePublic() {
	for _, a := range p.active {
		if a.last >= 0 {
			a.had[a.last] += a.charge
		}
		a.before, a.last = a.last, -1
	}
}

// lossMargin is how much of a round a job may leave unused, in seconds, and still
// lose the time of its restart. Source: Shockwave simulator.
const lossMargin = 5

// charge returns the seconds that a round of whole steps on a type takes, without
// those lost to a restart. The very first round has none.
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

// restart begins a new count, before fractions are found: what was owed is carried
// over.
func (p publicRules) restart(s *policy.Snapshot) {
	passed := 0.0
	if !p.solved.IsZero() {
		passed = s.Now.Sub(p.solved).Seconds()
	}
	half := s.Length.Seconds() / 2
	for _, a := range p.active {
		for t := range p.types {
			a.owed[t] += a.x[t]*passed - (a.had[t] - half)
			a.had[t] = half
		}
	}
}

// servePublic serves type after type, by priority.
func (p publicRules) servePublic(s *policy.Snapshot, r *grant.Round) {
	for t := range p.types {
		for _, e := range p.publicLine(t) {
			if !r.Decided(e.a.index) && r.Grant(e.a.index, t) {
				e.a.last, e.a.charge = t, p.charge(e.a, t, s.Length.Seconds())
			}
		}
	}
}

// publicLine sorts the jobs that can run on a type.
func (p publicRules) publicLine(t int) []entry {
	var line []entry
	all := 0.0
	for _, a := range p.active {
		all += a.had[t]
	}
	for _, a := range p.active {
		if a.size[t] == 0 || !a.solved {
			continue
		}
		priority := 1e9 * a.x[t]
		if a.had[t] > 0 {
			priority = a.x[t] / (a.had[t] / all)
		}
		line = append(line, entry{a: a, t: t, keys: [3]float64{priority, a.owed[t], a.x[t]}})
	}
	slices.SortStableFunc(line, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.keys[0], a.keys[0]), cmp.Compare(b.keys[1], a.keys[1]), cmp.Compare(b.keys[2], a.keys[2]))
	})
	return line
}

// The bisection of the makespan, in seconds.
const (
	leastMakespan = 100
	mostMakespan  = 1e6
	makespanRatio = 1.05
)

// bisect takes fractions that meet the last makespan which a bisection finds to be
// feasible: those from that of the greatest level on are.
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
	if !last.Feasible { // longer than the bisection can reach
		last = best
	}
	p.take(last)
	p.outcome.objective, p.outcome.bound, p.outcome.prices = high, inverse(best.Bound), nil
}
