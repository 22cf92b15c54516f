package monitor

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// What a round does with a job.
const (
	actStarted   = "started"   // it held nothing
	actGrown     = "grown"     // it gets more GPUs
	actShrunk    = "shrunk"    // it gets fewer
	actMoved     = "moved"     // it gets as many elsewhere
	actTuned     = "tuned"     // other CPUs, memory or batch sizes on its GPUs
	actPreempted = "preempted" // it loses all
	actKept      = "kept"      // it keeps what it has
	actWaiting   = "waiting"   // it keeps nothing
)

// decide counts what a round does with its jobs.
func (q *Queue) decide(s *policy.Snapshot, acts []scheduler.Action) {
	count := func(action string, n int) { q.m.decisions.WithLabelValues(q.name, action).Add(float64(n)) }
	holding, waiting := 0, 0
	for _, j := range s.Jobs {
		if j.Holding() {
			holding++
		} else {
			waiting++
		}
	}
	for _, a := range acts {
		id, action, restarts := q.act(a)
		if action == "" {
			continue
		}
		count(action, 1)
		if restarts {
			q.m.restarts.WithLabelValues(q.name).Inc()
		}
		if q.rows[id].Holding() {
			holding--
		} else {
			waiting--
		}
	}
	count(actKept, holding)
	count(actWaiting, waiting)
}

// act returns which job of the last snapshot an action is of, what it does with the job, and
// whether it restarts it; an empty action if it is of no job.
func (q *Queue) act(a scheduler.Action) (id job.ID, action string, restarts bool) {
	switch a := a.(type) {
	case scheduler.Preempt:
		if q.rows[a.Job] != nil {
			return a.Job, actPreempted, false
		}
	case scheduler.Run:
		if j := q.rows[a.Job]; j != nil {
			same := a.InPlace(j.Allocation, j.Placement)
			return a.Job, change(&j.Allocation, &a.Allocation, same), !same && !a.Free && !a.Resized && !j.FirstStarted.IsZero()
		}
	}
	return "", "", false
}

// change returns the name of a change from one allocation to another.
func change(had, gets *cluster.Allocation, same bool) string {
	switch before, after := had.AllGPUs(), gets.AllGPUs(); {
	case same:
		return actTuned
	case before == 0:
		return actStarted
	case after > before:
		return actGrown
	case after < before:
		return actShrunk
	}
	return actMoved
}
