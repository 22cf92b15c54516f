package sim

import (
	"fmt"
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
