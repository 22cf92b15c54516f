package metrics

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

// This file counts the cost of giving nodes on loan back. Source: Lyra §7.3, "Reclaiming heuristic".

type waves struct {
	gpus      int
	flexible  int           // nodes without a preempted job
	damage    int           // GPUs given up on other nodes
	lost      time.Duration // useful GPU time to repeat
	running   int           // sum over rounds of the jobs that held GPUs before
	borrowing int           // the same, with GPUs on loan
}

type wave struct {
	back      map[cluster.NodeID]bool // true if a job on it is preempted
	gpus      int                     // of the nodes in back
	damage    int
	preempted int // jobs
	lost      time.Duration
}

// reclaim counts the nodes that a round returns, before its actions are carried out. A job that leaves a returned
// node is preempted, even if it moves.
func (r *Recorder) reclaim(actions []scheduler.Action) {
	w := r.lending.wave(actions, r.gpus.cluster)
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

func (l *lending) wave(actions []scheduler.Action, c *cluster.Cluster) wave {
	var w wave
	for _, act := range actions {
		act, ok := act.(scheduler.Return)
		if !ok {
			continue
		}
		for _, id := range act.Nodes {
			if i, there := c.Index(id); there {
				l.giveBack(&w, &c.Nodes()[i])
			}
		}
	}
	return w
}

func (l *lending) giveBack(w *wave, n *cluster.Node) {
	if n.Tenure != cluster.Loaned {
		return
	}
	l.returned[n.ID] = true
	if l.last(n.Group).Reclaim > 0 {
		if w.back == nil {
			w.back = make(map[cluster.NodeID]bool)
		}
		w.back[n.ID] = false
		w.gpus += n.Capacity.GPUs
	}
}

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
