package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/scheduler"
)

type round struct {
	number int       // rounds with running jobs, including this one
	open   bool      // has begun
	begin  time.Time // when it began
	end    time.Time // last step of its jobs; the deadline if no job runs
	full   time.Time // the deadline
	fresh  bool      // a job has arrived since the last plan
}

// openRound returns the end of the round: the last whole step under WholeRounds, otherwise the
// deadline. Source: Gavel simulator.
func (w *World) openRound(deadline time.Time) time.Time {
	if !w.o.Public.WholeRounds {
		return deadline
	}
	if w.round.open {
		return w.round.end
	}
	w.round.open, w.round.begin, w.round.end, w.round.full = true, w.now, deadline, deadline
	w.happen() // restarts take no time
	jobs := w.training()
	if len(jobs) == 0 {
		return deadline
	}
	w.round.number++
	last := w.now
	for _, g := range jobs {
		last = later(last, g.beginSteps(w))
	}
	if w.held > 0 {
		w.round.end = last
	}
	return w.round.end
}

// called reports whether the round ends at once because no job runs and one has arrived. Source:
// Gavel simulator.
func (w *World) called() bool {
	return w.o.Public.WholeRounds && w.held == 0 && w.round.fresh
}

// beginSteps starts an agent's steps in a round and returns their end. A job fails if one step takes longer
// than a round.
func (g *agent) beginSteps(w *World) time.Time {
	length := w.round.full.Sub(w.now)
	took, ok := g.steps.begin(g, length)
	if !ok {
		w.exit(g, scheduler.Exited{Job: g.spec.ID, Outcome: scheduler.Failed, Detail: fmt.Sprintf("a step takes %v, want rounds longer than %v", seconds(1/rate(g)), length)})
		return w.now
	}
	end := w.now.Add(took)
	g.measured = w.now
	g.turn++
	w.agenda.push(entry{at: end, agent: g, turn: g.turn})
	return end
}

func (g *agent) endSteps(w *World) {
	s, held := g.steps, g.batch
	s.end(g, w)
	g.progress, g.epoch = max(g.progress, s.progress(g)), s.epoch(g)
	g.checkpoint()
	if s.done {
		w.exit(g, scheduler.Exited{Job: g.spec.ID, Outcome: scheduler.Done})
		return
	}
	g.measure(w)
	if g.tune(); g.batch != held {
		g.announce(w)
	}
	g.fail(w)
}

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
