package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/scheduler"
)

// endRound makes each job in training exit if complete and report otherwise, once per deadline, under
// ExitOnRound. Source: Synergy simulator.
func (w *World) endRound() {
	if !w.o.Public.ExitOnRound || w.now.Equal(w.ended) {
		return
	}
	w.ended = w.now
	for _, g := range w.training() {
		g.settle(w)
		if w.o.Public.WholeIterations {
			g.truncate()
		}
		if g.over || g.progress >= g.target() {
			w.exit(g, scheduler.Exited{Job: g.spec.ID, Outcome: scheduler.Done})
			continue
		}
		g.report(w)
		if !g.fail(w) {
			g.next(w)
		}
	}
}

func (w *World) training() []*agent {
	agents := make([]*agent, 0, w.held)
	for _, g := range w.jobs {
		if g.holding() && !g.restoring {
			agents = append(agents, g)
		}
	}
	slices.SortFunc(agents, func(a, b *agent) int { return cmp.Compare(a.spec.ID, b.spec.ID) })
	return agents
}

// whole is the accepted gap of a complete iteration: rounding errors add up.
const whole = 1e-6

// truncate drops the progress of an incomplete iteration. Reported progress is never dropped.
func (g *agent) truncate() {
	if g.app.Curve != nil || g.over || g.progress >= g.target() {
		return
	}
	samples := float64(g.replicas * g.batch.PerReplica())
	g.progress = g.begun + samples*math.Floor((g.progress-g.begun)/samples+whole)
	g.begun = g.progress
}
