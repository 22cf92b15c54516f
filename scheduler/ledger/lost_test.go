package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/ledger"
)

// lostWork returns the lost GPU-seconds that a book charges to each job, such as "b=120 c=0".
func lostWork(s *story) string {
	var all []string
	for _, r := range s.state("job").Rows {
		if !r.Lost.IsZero() {
			all = append(all, fmt.Sprintf("%s=%v", r.Of[0], r.Lost))
		}
	}
	return strings.Join(all, " ")
}

// The work that a stopped job has to repeat is charged to the jobs that got its GPUs. Job a has four GPUs of a node from
// 60 s. At 180 s job b gets three of them, and job c one.
func TestRecorder_charges_lost_work(t *testing.T) {
	report := func(s *story, seconds, progress float64) {
		r := job.Report{Job: "a", Progress: progress}
		s.event(seconds, scheduler.Reported{Report: r})
	}
	taken := []scheduler.Action{scheduler.Preempt{Job: "a"}, run("b", "t4", share("n0", 3)), run("c", "t4", share("n0", 1))}
	for name, c := range map[string]struct {
		noCheckpoint bool
		actions      []scheduler.Action // at 180 s
		progress     float64            // in the first report after the next start, at 300 s; reports before: 100 at 70 s, 1100 at 170 s
		want         string
	}{
		"without checkpoints, all is lost":                 {true, taken, 0, "b=360 c=120"},
		"with a checkpoint at the stop, nothing is":        {false, taken, 1100, ""},
		"since its last checkpoint":                        {false, taken, 600, "b=210 c=70"}, // 500 samples of 0.4 GPU-seconds, and 4 GPUs for 10 s before the stop and 10 s before the report
		"no job got its GPUs":                              {true, taken[:1], 0, ""},
		"one of its GPUs":                                  {true, []scheduler.Action{run("a", "t4", share("n0", 3)), run("c", "t4", share("n0", 1))}, 0, "c=480"},
		"another node, while others get GPUs":              {true, []scheduler.Action{run("a", "t4", share("n1", 4)), taken[1], taken[2]}, 0, "b=360 c=120"},
		"it is resized while it trains":                    {true, []scheduler.Action{scheduler.Run{Job: "a", Allocation: taken[1].(scheduler.Run).Allocation, Placement: cluster.Placement{share("n0", 3)}, Resized: true}, taken[2]}, 0, ""},
		"its node is lost, and others start on what comes": {true, nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &story{t: t, cluster: nodes(t, node("n0", "t4", cluster.Owned, "", 0), node("n1", "t4", cluster.Owned, "", 0))}
			s.rec = ledger.NewRecorder(start, s.cluster, s.book.Add)
			s.event(0, scheduler.Submitted{Spec: &job.Spec{ID: "a", NoCheckpoint: c.noCheckpoint}})
			s.submit(0, "b", "q", "bob")
			s.submit(0, "c", "q", "carol")
			s.round(60, nil, run("a", "t4", share("n0", 4)))
			report(s, 70, 100)
			report(s, 170, 1100)
			if c.actions == nil {
				s.event(175, scheduler.Exited{Job: "a", Outcome: scheduler.Lost})
				c.actions = taken[1:]
			}
			s.round(180, nil, c.actions...)
			s.round(240, nil)
			if _, preempted := c.actions[0].(scheduler.Preempt); preempted {
				s.round(290, nil, run("a", "t4", share("n1", 4)))
			}
			report(s, 300, c.progress)
			s.rec.Close()
			if got := lostWork(s); got != c.want {
				t.Errorf("lost work %q, want %q", got, c.want)
			}
		})
	}
}
