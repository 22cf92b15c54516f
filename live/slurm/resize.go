package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/comment"
	"github.com/oxgang/oxgang/model/cluster"
)

// A Wish is what is planned for an elastic job.
type Wish struct {
	Placement  cluster.Placement // none: it is to hold nothing
	Generation int               // of the start with this placement
	Noticed    time.Time         // when the start that runs was told to stop; zero: it was not
	Silent     bool              // its program has said nothing for long
}

// Times of starts and stops, and what marks say of the scheduler.
type Times struct {
	Grace time.Duration // from the notice to a job until it is stopped
	Epoch int64         // of this scheduler
	// Agents is the folder in which jobs find the agent API; empty: there is none.
	Agents string
}

// signed returns a mark as this scheduler's.
func (t *Times) signed(m comment.Mark) comment.Mark {
	m.Epoch, m.Agents = t.Epoch, t.Agents
	return m
}

// Steps returns the commands that are next for the elastic jobs of an observation, at most those of one
// step of each job: what must stop first, then what can start. A job is held while nothing is planned
// for it. It is started once the GPUs of its placement are free. Complexity: linear in the jobs and
// their nodes.
func Steps(o *Observation, wishes map[client.ID]Wish, t Times) []Step {
	free := o.Free()
	var stops, starts []Step
	for i := range o.Jobs {
		j := &o.Jobs[i]
		w, known := wishes[j.ID]
		switch {
		case !j.Takes():
			stops = append(stops, undo(j)...)
		case !known:
			if j.Elastic() && j.Waits() && !j.Holds() && !j.Kept() {
				stops = append(stops, hold(j, t)...)
			}
		case j.Holds():
			stops = append(stops, whileItRuns(o, j, &w, t)...)
		case !j.Kept():
			if len(w.Placement) == 0 || !Sized(j, w.Placement) {
				stops = append(stops, hold(j, t)...)
			}
			take(free, w.Placement)
		case len(w.Placement) > 0 && j.Mark.Held && take(free, w.Placement):
			starts = append(starts, start(j, &w, t)...)
		}
	}
	return append(stops, starts...)
}

// hold keeps a waiting job from starting. The mark goes first: a job with a hold and no mark is held by
// somebody else.
func hold(j *Job, t Times) []Step {
	h := Step{j.ID, Hold, nil, "nothing is planned for it now"}
	if j.Mark.Held {
		return []Step{h}
	}
	m := t.signed(j.Mark)
	m.Held, m.Stopping, m.Silent = true, false, false
	return []Step{{j.ID, Update, []client.Field{adminComment(m)}, h.Why}, h}
}

// whileItRuns returns the step about a job that runs: none if it is as planned, but that its mark is
// settled, and else the next of those that stop it: mark, notice, and after the grace the stop.
func whileItRuns(o *Observation, j *Job, w *Wish, t Times) []Step {
	m := t.signed(j.Mark)
	switch {
	case !j.Running():
		return nil // it is ending
	case !m.Stopping && j.Placement.SameGPUs(w.Placement):
		if !m.Held && j.Mark.Epoch == t.Epoch && m.Silent == w.Silent {
			return nil
		}
		why := "it runs as planned"
		if w.Silent {
			why = "its program says nothing"
		}
		m.Held, m.Silent = false, w.Silent
		return []Step{{j.ID, Update, []client.Field{adminComment(m)}, why}} // and earlier schedulers see that there is another
	case !m.Stopping:
		m.Held, m.Stopping, m.Silent = true, true, false
		return []Step{
			{j.ID, Update, []client.Field{adminComment(m)}, "it is to have " + nodes(w.Placement)},
			{j.ID, Notice, nil, "it is to have " + nodes(w.Placement)},
		}
	case w.Noticed.IsZero():
		return []Step{{j.ID, Notice, nil, "it is to have " + nodes(w.Placement)}}
	case o.At.Sub(w.Noticed) >= t.Grace:
		return []Step{{j.ID, Requeuehold, nil, fmt.Sprintf("it had notice for %v", t.Grace)}}
	}
	return nil
}

// delay is how long Slurm is to wait with a start. A job that starts again in the second in which it was
// requeued is killed: "Job credential revoked". Source: observed, Slurm 22.05.
const delay = "now+2"

// start sizes a held job and releases it.
func start(j *Job, w *Wish, t Times) []Step {
	n := strconv.Itoa(len(w.Placement))
	m := t.signed(comment.Mark{Ordered: j.Mark.Ordered, Nice: j.Mark.Nice, Held: true, Generation: w.Generation})
	fields := []client.Field{
		{Name: "NumNodes", Value: n + "-" + n},
		{Name: "NumTasks", Value: n},
		{Name: "NumCPUs", Value: n},
		{Name: "TresPerNode", Value: tres(j, w.Placement)},
		{Name: "ReqNodeList", Value: strings.Join(names(w.Placement), ",")},
		{Name: "StartTime", Value: delay},
		adminComment(m),
	}
	why := "it is to have " + nodes(w.Placement)
	return []Step{{j.ID, Update, fields, why}, {j.ID, Release, nil, why}}
}

// tres returns the GPUs of each node as Slurm takes them: with a type only if the job was submitted
// with one, as Slurm refuses both.
func tres(j *Job, p cluster.Placement) string {
	if t := Type(&j.Job); t != "" {
		return fmt.Sprintf("gres:gpu:%s:%d", t, p[0].GPUs)
	}
	return fmt.Sprintf("gres:gpu:%d", p[0].GPUs)
}

// Even reports whether a placement has as many GPUs on each node, which Slurm wants of a job.
func Even(p cluster.Placement) bool {
	return !slices.ContainsFunc(p, func(s cluster.Share) bool { return s.GPUs != p[0].GPUs })
}

// Sized reports whether a waiting job asks for a placement. The number of nodes is not compared: of a job
// that was requeued, Slurm 22.05 shows that of its last start.
func Sized(j *Job, p cluster.Placement) bool {
	asked := slices.Sorted(slices.Values(j.ReqNodes))
	return len(p) > 0 && slices.Equal(asked, names(p)) && j.PerNode.Total() == p[0].GPUs
}

// names returns the nodes of a placement, which is sorted by them.
func names(p cluster.Placement) []string {
	all := make([]string, len(p))
	for i := range p {
		all[i] = string(p[i].Node)
	}
	return all
}

// nodes returns a placement for people.
func nodes(p cluster.Placement) string {
	if len(p) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%d GPUs on %s", p.GPUs(), strings.Join(names(p), ","))
}

// take takes the GPUs of a placement if all are free, and reports whether they were.
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
