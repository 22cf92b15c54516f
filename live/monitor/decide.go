package monitor

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

const (
	actStarted   = "started"   // had no GPUs
	actGrown     = "grown"     // more GPUs
	actShrunk    = "shrunk"    // fewer GPUs
	actMoved     = "moved"     // as many GPUs elsewhere
	actTuned     = "tuned"     // other CPUs, memory or batch size
	actPreempted = "preempted" // loses all GPUs
	actKept      = "kept"      // no change
	actWaiting   = "waiting"   // still no GPUs
)

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

// act returns the job of an action, the action's name, and whether it restarts the job. The name is empty if the
// action is not about a job of the last snapshot.
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
