package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
)

// A wish is what the plan assigns to one elastic job.
type wish struct {
	Placement  cluster.Placement // where the job should run; none: nowhere
	Generation int
	Noticed    time.Time // when the running program was asked to stop; zero: it was not
	Silent     bool      // its program has sent no message for long
}

// times are durations, and scheduler data that marks store.
type times struct {
	Grace time.Duration // time from the request to stop until the job is stopped
	Epoch int64         // number of this scheduler: see client.Mark
	// where jobs find the agent API; empty: nowhere
	Agents string
}

func (t *times) signed(m client.Mark) client.Mark {
	m.Epoch, m.Agents = t.Epoch, t.Agents
	return m
}

// steps returns the next commands for elastic jobs: at most one change of state per job, stops first. A job without a
// planned placement is held. A job starts once its GPUs are free.
func steps(o *Observation, wishes map[client.ID]wish, t times) []step {
	free := o.Free()
	var stops, starts []step
	for i := range o.Jobs {
		j := &o.Jobs[i]
		w, known := wishes[j.ID]
		switch {
		case !j.Takes():
			stops = append(stops, undo(j)...)
		case !known:
			if j.elastic() && j.Waits() && !j.Holds() && !j.IsHeld() {
				stops = append(stops, hold(j, t)...)
			}
		case j.Holds():
			stops = append(stops, whileRunning(o, j, &w, t)...)
		case !j.IsHeld():
			if len(w.Placement) == 0 || !isSized(j, w.Placement) {
				stops = append(stops, hold(j, t)...)
			}
			take(free, w.Placement)
		case len(w.Placement) > 0 && j.Mark.Held && take(free, w.Placement):
			starts = append(starts, start(j, &w, t)...)
		}
	}
	return append(stops, starts...)
}

// hold writes the mark first: a hold without a mark is somebody else's.
func hold(j *Job, t times) []step {
	h := step{j.ID, Hold, nil, "it has no place in the plan"}
	if j.Mark.Held {
		return []step{h}
	}
	m := t.signed(j.Mark)
	m.Held, m.Stopping, m.Silent = true, false, false
	return []step{{j.ID, update, []client.Field{adminComment(m)}, h.Why}, h}
}

func whileRunning(o *Observation, j *Job, w *wish, t times) []step {
	m := t.signed(j.Mark)
	switch {
	case !j.running():
		return nil // it is ending
	case !m.Stopping && j.Placement.SameGPUs(w.Placement):
		if !m.Held && j.Mark.Epoch == t.Epoch && m.Silent == w.Silent {
			return nil
		}
		why := "it runs as planned"
		if w.Silent {
			why = "its program sends no messages"
		}
		m.Held, m.Silent = false, w.Silent
		return []step{{j.ID, update, []client.Field{adminComment(m)}, why}} // a newer scheduler marks each job
	case !m.Stopping:
		m.Held, m.Stopping, m.Silent = true, true, false
		return []step{
			{j.ID, update, []client.Field{adminComment(m)}, "the plan gives it " + nodes(w.Placement)},
			{j.ID, notice, nil, "the plan gives it " + nodes(w.Placement)},
		}
	case w.Noticed.IsZero():
		return []step{{j.ID, notice, nil, "the plan gives it " + nodes(w.Placement)}}
	case o.At.Sub(w.Noticed) >= t.Grace:
		return []step{{j.ID, requeuehold, nil, fmt.Sprintf("it did not stop within %v of its notice", t.Grace)}}
	}
	return nil
}

// delay is the earliest start given to Slurm. A job that starts within a second of its requeue is killed: "Job
// credential revoked". Source: observed, Slurm 22.05.
const delay = "now+2"

func start(j *Job, w *wish, t times) []step {
	n := strconv.Itoa(len(w.Placement))
	m := t.signed(client.Mark{Ordered: j.Mark.Ordered, Nice: j.Mark.Nice, Held: true, Generation: w.Generation})
	fields := []client.Field{
		{Name: "NumNodes", Value: n + "-" + n},
		{Name: "NumTasks", Value: n},
		{Name: "NumCPUs", Value: n},
		{Name: "TresPerNode", Value: tres(j, w.Placement)},
		{Name: "ReqNodeList", Value: strings.Join(names(w.Placement), ",")},
		{Name: "StartTime", Value: delay},
		adminComment(m),
	}
	why := "the plan gives it " + nodes(w.Placement)
	return []step{{j.ID, update, fields, why}, {j.ID, Release, nil, why}}
}

func tres(j *Job, p cluster.Placement) string {
	if t := typeOf(&j.Job); t != "" {
		return fmt.Sprintf("gres:gpu:%s:%d", t, p[0].GPUs)
	}
	return fmt.Sprintf("gres:gpu:%d", p[0].GPUs)
}

func isEven(p cluster.Placement) bool {
	return !slices.ContainsFunc(p, func(s cluster.Share) bool { return s.GPUs != p[0].GPUs })
}

// isSized reports whether the request of a waiting job matches placement p. It ignores the number of nodes, which is
// outdated in Slurm 22.05 after a requeue.
func isSized(j *Job, p cluster.Placement) bool {
	asked := slices.Sorted(slices.Values(j.ReqNodes))
	return len(p) > 0 && slices.Equal(asked, names(p)) && j.PerNode.Total() == p[0].GPUs
}

func names(p cluster.Placement) []string {
	all := make([]string, len(p))
	for i := range p {
		all[i] = string(p[i].Node)
	}
	return all
}

func nodes(p cluster.Placement) string {
	if len(p) == 0 {
		return "nothing"
	}
	return printable.Count(p.GPUs(), "GPU") + " on " + strings.Join(names(p), ",")
}

func take(free map[cluster.NodeID]int, p cluster.Placement) bool {
	for _, s := range p {
		if free[s.Node] < s.GPUs {
			return false
		}
	}
	for _, s := range p {
		free[s.Node] -= s.GPUs
	}
	return true
}
