package kube

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// What a job measured at a new size is saved though no plan changes, and the next leader learns
// from it; at a size that is known it makes no write.
func TestReports_outlive_the_leader(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, id := trained(t, twin)
		if _, err := w.Hello(t.Context(), id, hello1(1, 2)); err != nil {
			t.Fatal(err)
		}
		version := func() string { return twin.Plan(queue).ResourceVersion }
		report := func(sequence int64, local int, seconds float64) {
			r := &agentapi.Report{Generation: 1, Sequence: sequence, Interval: 30, StepTime: seconds, SyncTime: 0.1, GradSqr: 0.001, GradVar: 2e9, Progress: 640}
			r.Batch.Local = local
			time.Sleep(planstore.ForetellEvery)
			if _, err := w.Report(t.Context(), id, r); err != nil {
				t.Fatal(err)
			}
			news(t, w)
			do(t, w)
		}
		report(1, 32, 0.5)
		report(2, 64, 0.8)
		before := version()
		report(3, 32, 0.4)
		if version() != before {
			t.Error("a report of a size that is known makes a write")
		}
		report(4, 16, 0.3)
		var got []job.Report
		for _, ev := range news(t, open(t, twin, options(v1alpha1.Resize))) {
			if r, ok := ev.(scheduler.Restored); ok {
				got = r.Reports
			}
		}
		of := func(local int, step time.Duration) job.Report {
			return job.Report{
				Job: id, Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "A100"}, Batch: job.BatchSize{Local: local},
				StepTime: step, SyncTime: 100 * time.Millisecond, GradSqr: 0.001, GradVar: 2e9,
			}
		}
		want := []job.Report{of(64, 800*time.Millisecond), of(32, 400*time.Millisecond), of(16, 300*time.Millisecond)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// Of a job with many sizes the last ones are kept, and of many jobs fewer of each.
func TestKeep(t *testing.T) {
	e := &jobstate.Job{}
	for gpus := range 20 {
		r := job.Report{StepTime: 1, Batch: job.BatchSize{Local: 1}}
		r.Configuration.GPUs = gpus
		if !e.Keep(&r) || e.Keep(&r) {
			t.Fatalf("of %d GPUs: want that the first is news, and the second is not", gpus)
		}
	}
	if len(e.Reports) != jobstate.KeptReports || e.Reports[0].Configuration.GPUs != 20-jobstate.KeptReports {
		t.Errorf("%d reports from that of %d GPUs on, want the last %d", len(e.Reports), e.Reports[0].Configuration.GPUs, jobstate.KeptReports)
	}
	if e.Keep(&job.Report{}) {
		t.Error("what measured nothing is kept")
	}
	if few := e.LearnedText(2); strings.Count(few, `"n"`) != 2 || !strings.Contains(few, `"g":19`) || e.LearnedText(0) != "" {
		t.Errorf("the last two are %s", few)
	}
}

// What cannot be believed is nothing: a report that the scheduler refuses would stop it.
func TestReports_that_are_spoilt(t *testing.T) {
	good := `{"n":1,"g":4,"t":"a100","l":8,"s":5}`
	for text, want := range map[string]int{
		"": 0, "[]": 0, "{}": 0, "[" + good + "]": 1, "[" + good + `,{"n":1,"g":4,"t":"a100","l":8,"s":0}]`: 0,
		`[{"n":0,"g":4,"l":8,"s":5}]`: 0, `[{"n":2,"g":1,"l":8,"s":5}]`: 0, `[{"n":1,"g":1,"l":0,"s":5}]`: 0, `[{"n":1,"g":1,"l":8,"s":5,"y":6}]`: 0,
		`[{"n":1,"g":1,"l":8,"s":5,"q":-1}]`: 0, `[{"n":1,"g":1,"l":8,"s":5,"q":1e999}]`: 0,
		"[" + strings.Repeat(good+",", jobstate.KeptReports) + good + "]": 0,
	} {
		if got := jobstate.ReportsOf(&v1alpha1.JobState{UID: "a", Reports: text}); len(got) != want {
			t.Errorf("%.80s: %d reports, want %d", text, len(got), want)
		}
	}
}
