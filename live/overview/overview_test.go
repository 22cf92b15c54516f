package overview

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// What top and jobs say of a machine is on its page: who has which slot, what waits and why, and which ends were last.
func TestOverviewOf(t *testing.T) {
	now := time.Unix(1000, 0)
	ago := func(s int) time.Time { return now.Add(-time.Duration(s) * time.Second) }
	in := func(s int) *time.Time { t := ago(-s); return &t }
	top := &control.Top{
		Machine: "box", Policy: "oxgang", Banner: "the disk is full", Prices: []control.Price{{Resource: "cpus", Price: 9}, {Resource: "a100", Price: 1.5}},
		Slots: []control.SlotView{{Type: "a100", Job: "b"}, {Type: "a100"}, {Type: "a100", Job: "b"}, {Type: "a100", Job: "c"}},
	}
	s := overviewOf(top, []control.View{
		{ID: "old", Finished: ago(50), Outcome: "done"},
		{ID: "a", Phase: "waiting", MinGPUs: 2, MaxGPUs: 4, Submitted: ago(30), Since: ago(20), Sentence: "why", StartEarly: in(-5), StartLikely: in(10), StartLate: in(60)},
		{ID: "b", Phase: "running", MinGPUs: 2, MaxGPUs: 2, GPUs: 2, GPUType: "a100", Submitted: ago(90), Since: ago(80), EndEarly: in(5), EndLikely: in(10), Trouble: "stuck"},
		{ID: "new", Finished: ago(10), Outcome: "failed", Detail: "exit code 1"},
	}, now)
	price := 1.5
	want := &explain.Overview{
		At: journal.Seconds(1000 * time.Second), Last: journal.Seconds(1000 * time.Second), Begun: time.Unix(0, 0).UTC(), Policy: "oxgang",
		Types: []explain.TypeView{{Type: "a100", GPUs: 4, Free: 1, Price: &price}},
		Nodes: []explain.OverviewNode{{ID: "box", Type: "a100", GPUs: 4, Held: []explain.OverviewHolder{{Job: "b", GPUs: 2}, {Job: "c", GPUs: 1}}}},
		Jobs: []explain.OverviewJob{
			{
				ID: "a", Phase: "waiting", Asked: "2 to 4 GPUs", Submitted: journal.Seconds(970 * time.Second), Since: journal.Seconds(980 * time.Second), Sentence: "why",
				Start: &explain.Expected{Likely: journal.Seconds(10 * time.Second), Late: journal.Seconds(time.Minute), Share: 0.8},
			},
			{
				ID: "b", Phase: "running", Asked: "2 GPUs", Submitted: journal.Seconds(910 * time.Second), Since: journal.Seconds(920 * time.Second), Trouble: "stuck",
				Holds: &explain.Holding{Nodes: 1, GPUs: 2, Type: cluster.GPUType("a100")},
				End:   &explain.Expected{Early: journal.Seconds(5 * time.Second), Likely: journal.Seconds(10 * time.Second), Share: 0.8, Open: true},
			},
		},
		Ended: []explain.OverviewEnd{
			{Job: "new", At: journal.Seconds(990 * time.Second), Outcome: "failed", Detail: "exit code 1"},
			{Job: "old", At: journal.Seconds(950 * time.Second), Outcome: "completed"},
		},
	}
	if diff := cmp.Diff(want, s.Overview); diff != "" {
		t.Error(diff)
	}
	if s.Title != "box" || s.Banner != "the disk is full" || !s.Live {
		t.Errorf("%q, %q, live %v", s.Title, s.Banner, s.Live)
	}
}
