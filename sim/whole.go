package sim

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/scheduler"
)

// A round is the present one of the rule WholeRounds.
type round struct {
	number int       // of rounds in which jobs ran, this one among them
	open   bool      // it has begun
	begin  time.Time // when
	end    time.Time // when the last of its jobs is through, or the deadline if there is none
	full   time.Time // the deadline
	fresh  bool      // a job has come since the last plan
}

// openRound returns when the round ends whose deadline this is: under the rule
// WholeRounds, when the last of its jobs has made its whole steps. The first call
// after a plan begins the round. Source: Gavel simulator.
func (w *World) openRound(deadline time.Time) time.Time {
	if !w.o.Public.WholeRounds {
		return deadline
	}
	if w.round.open {
		return w.round.end
	}
	w.round.open, w.round.begin, w.round.end, w.round.full = true, w.now, deadline, deadline
	w.happen() // GPUs are up at once
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

// called reports whether a round is to begin at once: nobody runs, and a job has
// come. Source: Gavel simulator.
func (w *World) called() bool {
	return w.o.Public.WholeRounds && w.held == 0 && w.round.fresh
}

// beginSteps starts an agent on the steps of a round, and returns when they end. A
// job of which no step fits into a round would never end, and fails.
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

// endSteps counts the steps of a round, and ends the job if they were the last.
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
