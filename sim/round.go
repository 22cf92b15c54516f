package sim

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/workload"
)

// endRound tells, once per deadline, what running jobs did in the round, in the
// order of their IDs: those that are done exit, the others report. It does
// nothing without the rule ExitOnRound. Source: Synergy simulator.
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
		g.measure(w)
		g.tune()
		if !g.fail(w) {
			g.next(w)
		}
	}
}

// training returns the agents whose GPUs are up, by ID.
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

// whole is how near to the next whole number of iterations counts as one:
// rounding, over millions of them.
const whole = 1e-6

// truncate forgets the part of an iteration that was not completed. Iterations are
// counted from where the job began to train on its GPUs, its epoch began, or the last
// round ended, so that nothing is forgotten that was reported.
func (g *agent) truncate() {
	if g.app.Curve != nil || g.over || g.progress >= g.target() {
		return
	}
	samples := float64(g.replicas * g.batch.PerReplica())
	g.progress = g.begun + samples*math.Floor((g.progress-g.begun)/samples+whole)
	g.begun = g.progress
}

// delay returns how long a job takes until it trains on GPUs that it is given.
func (w *World) delay(g *agent) time.Duration {
	if w.o.FreeStart && !g.started {
		return 0
	}
	if n := len(g.app.Delays); n > 0 && w.o.Restart == nil && !w.o.Public.WholeRounds {
		return g.app.Delays[min(g.starts, n-1)]
	}
	return w.restartDelay(g.app)
}

// restartDelay returns how long GPUs of a job take until they train.
func (w *World) restartDelay(a *workload.Application) time.Duration {
	if w.o.Public.WholeRounds {
		return 0
	}
	if w.o.Restart != nil {
		return *w.o.Restart
	}
	return a.RestartDelay
}
