package explain

import (
	"fmt"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

func (t *journalReader) decided(round *journal.Round, held cluster.Allocation, on cluster.Placement) {
	r := t.jobs[t.id]
	if r == nil {
		return
	}
	for _, a := range round.Actions {
		switch a := a.(type) {
		case scheduler.Run:
			if a.Job == t.id {
				t.run(r, a, held, on)
			}
		case scheduler.Preempt:
			if a.Job == t.id {
				t.preempted(r, held)
			}
		}
	}
	if r.holds.IsZero() && r.ruled {
		t.waits(r)
	}
}

func (t *journalReader) waits(r *row) {
	s := &t.state
	if s.explained[r.why.Kind] {
		return
	}
	text := "waits: "
	if len(s.explained) > 0 {
		text = "still waits: "
	}
	s.explained[r.why.Kind] = true
	sc := t.contextOf(r, t.now)
	t.add(Waits, cluster.Allocation{}, cluster.Allocation{}, text, &sc)
}

func (t *journalReader) preempted(r *row, held cluster.Allocation) {
	s := &t.state
	r.holds = held
	t.settle(t.now)
	r.holds = cluster.Allocation{}
	sc := t.contextOf(r, t.now)
	sc.gave, sc.lost = true, held
	s.takers = sc.takers
	t.add(Preempted, held, cluster.Allocation{}, "", &sc)
	s.phase, s.since, s.before, s.lost = job.Waiting, t.now, held, ""
	clear(s.explained)
	s.explained[r.why.Kind] = true
}

// run adds a start or a change of GPUs; nothing if only batch size, CPUs or memory change.
func (t *journalReader) run(r *row, a scheduler.Run, held cluster.Allocation, on cluster.Placement) {
	s := &t.state
	now := a.Allocation
	if a.InPlace(held, on) {
		return
	}
	r.holds = held
	t.settle(t.now)
	r.holds = now
	sc := t.contextOf(r, t.now)
	what, text := t.verb(held, now)
	text += elsewhere(what, held, more(a.Placement, on)) + t.racks(a.Placement)
	switch {
	case a.Free:
		text += " at no cost"
	case a.Resized:
		text += " while it continued to train"
	}
	t.state.takers = sc.takers
	t.add(what, held, now, text+": ", &sc)
	if !held.IsZero() {
		s.before, s.lost = held, ""
	}
	s.since = t.now
	clear(s.explained)
	if a.Free || a.Resized {
		return
	}
	s.phase, s.train = job.Restoring, t.now
	s.starts++
	t.totals.Restarts = s.starts - 1
}

func (t *journalReader) verb(from, to cluster.Allocation) (What, string) {
	switch {
	case from.IsZero() && t.state.starts == 0:
		return Started, fmt.Sprintf("started on %s, %s after its submission", both(to), passed(t.came, t.now))
	case from.IsZero():
		return Resumed, fmt.Sprintf("resumed on %s after %s without GPUs", both(to), passed(t.state.since, t.now))
	case from.GPUType != to.GPUType:
		return Moved, fmt.Sprintf("%s from %s to %s", t.moved(), both(from), both(to))
	case to.AllGPUs() > from.AllGPUs():
		return Grown, fmt.Sprintf("grew from %d to %s", from.AllGPUs(), both(to))
	case to.AllGPUs() < from.AllGPUs():
		return Shrunk, fmt.Sprintf("shrank from %d to %s", from.AllGPUs(), both(to))
	}
	return Moved, t.moved() + " its " + both(to) + " to other nodes"
}

func (t *journalReader) moved() string {
	if n := len(t.changes); n > 0 && t.changes[n-1].What == Moved {
		return "again moved"
	}
	return "moved"
}

// elsewhere says that a job that grew or shrank left nodes for others: it gave up more GPUs than its size shows.
func elsewhere(what What, held cluster.Allocation, more map[cluster.NodeID]int) string {
	left, sum := 0, 0
	for _, n := range more { // sums: the order does not matter
		left, sum = left+max(0, -n), sum+n
	}
	switch {
	case what != Grown && what != Shrunk || left <= max(0, -sum):
		return ""
	case left == held.AllGPUs():
		return ", all on other nodes"
	}
	return ", some of them on other nodes"
}
