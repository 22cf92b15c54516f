package main

import (
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// TestGuide_live runs every example of docs/guide/live.md against a scheduler whose jobs
// go on as the page tells it.
func TestGuide_live(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := newSession(t)
	checkPage(t, &guidePage{name: "live.md", least: 9, environ: []string{"OXGANG_STATE=" + s.state}, after: func(line string) {
		switch strings.Fields(line)[1] {
		case "submit":
			s.goOn(t, line)
		case "jobs":
			s.ended()
		}
	}})
}

// goOn makes a job that was submitted run, or wait for those that do.
func (s *session) goOn(t *testing.T, line string) {
	t.Helper()
	early, late := time.Now().Add(80*time.Minute+59*time.Second), time.Now().Add(130*time.Minute+59*time.Second)
	if strings.Contains(line, "--name mnist ") {
		s.Change("mnist", func(v *status.Job) {
			v.Phase, v.GPUs, v.GPUType, v.Batch, v.Goodput, v.Restarts = "running", 3, "h200", 512, 3817.4, 1
			v.Progress, v.Target, v.Reason, v.End = 252e3, 600e3, "grown", status.Range{Early: early, Late: late}
		})
		if err := s.Say("mnist", "epoch 3: loss 0.211\nepoch 4: loss 0.187\n[rank 1] data: 2 workers\nepoch 5: loss 0.171\n"); err != nil {
			t.Fatal(err)
		}
		s.ChangeStatus(func(now *status.Status) {
			n := &now.Nodes[0]
			now.Queues[0].Running, now.Queues[0].Held = 1, 3
			n.CPUs.Used, n.Memory.Used = 12, 24<<30
			for i := range 3 {
				n.Slots[i].Job, n.Slots[i].Generation, n.Slots[i].Rank = "mnist", 2, i
			}
		})
		return
	}
	s.Change("evaluate", func(v *status.Job) {
		v.Reason, v.End = "waiting: no capacity", status.Range{}
	})
	s.ChangeStatus(func(now *status.Status) { now.Queues[0].Waiting = 1 })
	s.tell(t, "evaluate")
}

// ended makes the job that waited have failed once the other has ended, for the second
// list of jobs.
func (s *session) ended() {
	for _, v := range s.Status(true).All() {
		if v.ID == "mnist" && v.HasEnded() {
			end(s.fake, "evaluate", "failed", "worker 0: exit code 2; its last lines:\nno such file")
		}
	}
}

func (s *session) tell(t *testing.T, id job.ID) {
	t.Helper()
	since := journal.Seconds(2 * time.Hour)
	story := explain.Story{
		Job: id, Policy: "sia", Asked: "exactly 2 GPUs of any type",
		Moment: &explain.Moment{
			Live: true, At: journal.Seconds(2*time.Hour + 90*time.Second), Phase: "waiting", Since: &since,
			Sentence: string(id) + " has been waiting 1m30s: it needs 2 h200 GPUs, and 1 is free.",
			Cluster:  &explain.View{Types: []explain.TypeView{{Type: "h200", GPUs: 4, Free: 1}}, Running: 1, Waiting: 1},
			Unblock:  "it would get 2 h200 GPUs (1 is free now) if job mnist ended (expected in 12 min)",
		},
	}
	var text strings.Builder
	if err := story.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	s.SetExplanation(id, &control.Explanation{Text: text.String()})
}
