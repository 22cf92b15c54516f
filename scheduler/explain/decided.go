package explain

import (
	"fmt"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
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
	e := event{what: Preempted, verb: "was preempted"}
	if len(sc.takers) > 0 || r.why.Kind == policy.Reclaimed {
		e.reason, _, _ = strings.Cut(strings.TrimPrefix(sc.reason(), "preempted: "), "; ") // the rest has times as of now
	} else {
		e.verb += "; no other job got its " + both(held)
	}
	t.happened(e)
	s.phase, s.since, s.before, s.lost = job.Waiting, t.now, held, ""
	clear(s.explained)
	s.explained[r.why.Kind] = true
}

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
	e := t.verb(held, now)
	what, since := e.what, ""
	if what == Started {
		since = ", " + passed(t.came, t.now) + " after its submission"
	}
	how := elsewhere(what, held, more(a.Placement, on)) + t.racks(a.Placement)
	switch {
	case a.Free:
		how += " at no cost"
	case a.Resized:
		how += " while it continued to train"
	}
	t.state.takers = sc.takers
	t.add(what, held, now, e.verb+since+how+": ", &sc)
	e.verb += how
	e.reason, _, _ = strings.Cut(sc.template().why(&sc), ourLimit) // it has the time as of now
	if _, faster := gained(&sc, ""); !faster {
		e.takers = sc.lostTo()
	}
	t.happened(e)
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

func (t *journalReader) verb(from, to cluster.Allocation) event {
	n := from.AllGPUs()
	switch {
	case from.IsZero() && t.state.starts == 0:
		return event{what: Started, verb: "started on " + both(to), since: "started"}
	case from.IsZero():
		after := " after " + passed(t.state.since, t.now) + " without GPUs"
		return event{what: Resumed, verb: "resumed on " + both(to) + after, since: "resumed" + after}
	case from.GPUType != to.GPUType:
		return event{what: Moved, verb: "moved from " + both(from) + " to " + both(to), since: "moved from " + both(from)}
	case to.AllGPUs() > n:
		return event{what: Grown, verb: fmt.Sprintf("grew from %d to %s", n, both(to)), since: "grew from " + count(n, "GPU")}
	case to.AllGPUs() < n:
		return event{what: Shrunk, verb: fmt.Sprintf("was shrunk from %d to %s", n, both(to)), since: "was shrunk from " + count(n, "GPU")}
	}
	nodes := map[bool]string{true: "another node", false: "other nodes"}[to.Nodes == 1 && !to.Mixed()]
	return event{what: Moved, verb: "moved to " + nodes + ", again with " + both(to), since: "moved to " + nodes}
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
