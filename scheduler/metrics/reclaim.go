package metrics

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

// This file counts what it costs to give nodes on loan back. Source: Lyra §7.3,
// "Reclaiming heuristic".

// Waves sum up the rounds in which nodes went back that their owner wanted.
type waves struct {
	gpus      int           // of these nodes
	flexible  int           // of these nodes, those on which no job was that had to be preempted
	damage    int           // GPUs that preempted jobs left on other nodes
	lost      time.Duration // useful GPU time of preempted jobs that begin anew
	running   int           // jobs that held GPUs before, round by round
	borrowing int           // of running, those that held GPUs on loan
}

// A wave is one such round.
type wave struct {
	back      map[cluster.NodeID]bool // what goes back: whether a job there is preempted
	gpus      int                     // of back
	damage    int
	preempted int // jobs
	lost      time.Duration
}

// reclaim counts what a round gives back, before its actions are done. A job that moves
// off a node that goes back is preempted, as one is that has to wait.
func (r *Recorder) reclaim(actions []scheduler.Action) {
	w := r.wave(actions)
	if len(w.back) == 0 {
		return
	}
	for _, act := range actions {
		switch act := act.(type) {
		case scheduler.Preempt:
			r.vacate(&w, r.active[act.Job], nil)
		case scheduler.Run:
			if a := r.active[act.Job]; a != nil && a.moves(&act) && r.vacate(&w, a, act.Placement) {
				a.preemptions++
			}
		}
	}
	r.lending.book(&w)
	r.lending.waves.running += r.running
	r.lending.waves.borrowing += r.lending.jobs
}

// wave returns the nodes that a round gives back and that are wanted, and remembers all
// that it gives back.
func (r *Recorder) wave(actions []scheduler.Action) wave {
	var w wave
	for _, act := range actions {
		act, ok := act.(scheduler.Return)
		if !ok {
			continue
		}
		for _, id := range act.Nodes {
			if i, there := r.cluster.Index(id); there {
				r.giveBack(&w, &r.cluster.Nodes()[i])
			}
		}
	}
	return w
}

// giveBack adds a node to a wave if it is on loan and wanted.
func (r *Recorder) giveBack(w *wave, n *cluster.Node) {
	if n.Tenure != cluster.Loaned {
		return
	}
	r.lending.returned[n.ID] = true
	if r.lending.last(n.Group).Reclaim > 0 {
		if w.back == nil {
			w.back = make(map[cluster.NodeID]bool)
		}
		w.back[n.ID] = false
		w.gpus += n.Capacity.GPUs
	}
}

// vacate takes a job off all its GPUs, for those in to, and reports whether some were on
// nodes that go back.
func (r *Recorder) vacate(w *wave, a *account, to cluster.Placement) bool {
	if a == nil || a.held.gpus == 0 {
		return false
	}
	stay, hit := -a.placement.Common(to), false
	for _, share := range a.placement {
		if _, back := w.back[share.Node]; back {
			w.back[share.Node], hit = true, true
		} else {
			stay += share.GPUs
		}
	}
	if hit {
		w.preempted++
		w.damage += stay
		r.settle(a)
		w.lost += a.atStake()
	}
	return hit
}

// book adds a wave to what was counted.
func (l *lending) book(w *wave) {
	for _, preempted := range w.back {
		if !preempted {
			l.waves.flexible++
		}
	}
	l.waves.gpus += w.gpus
	l.waves.damage += w.damage
	l.waves.lost += w.lost
	l.count.Reclaimed += len(w.back)
	l.count.Preempted += w.preempted
}
