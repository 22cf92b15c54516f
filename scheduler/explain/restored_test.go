package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// again is a recording that begins with a job that ran for an hour, and with one that had
// ended.
func again(t testing.TB) string {
	r := newRun(t)
	two := config(1, 2, "a100")
	status := job.Status{Phase: job.Running, Submitted: at(-time.Hour), FirstStarted: at(-time.Hour), Restarts: 1}
	status.Allocation.Configuration = two
	status.Placement = cluster.Placement{{Node: "a0", Resources: cluster.Resources{GPUs: 2}}}
	r.w.Event(at(0), scheduler.Restored{Spec: &job.Spec{ID: "old", GPUs: 2}, Status: job.Status{Phase: job.Failed, Submitted: at(-2 * time.Hour)}})
	r.w.Event(at(0), scheduler.Restored{Spec: &job.Spec{ID: "x", GPUs: 2}, Status: status})
	r.round(time.Minute, 1, decided{"x", policy.Reason{Kind: policy.AsPlanned, Value: 2}, two, "a0", false})
	r.w.Event(at(2*time.Minute), scheduler.Described{Spec: &job.Spec{ID: "x", GPUs: 2, BatchSize: 64}})
	r.exit(6*time.Minute, "x", scheduler.Done, "")
	return r.text()
}

func TestLife_of_jobs_that_were_there_before(t *testing.T) {
	for id, want := range map[job.ID]string{
		"x": `x under sia

     0h00m00s  known since 1999-12-31 23:00:00 UTC, before this recording begins; asking for exactly 2 GPUs of any type
     0h06m00s  completed, 1h06m after submission

Completed after 6m00s: 0s profiling, 0s waiting, 6m00s with GPUs.
It held 0.20 GPU-hours; 0.00 of them went into its start and 1 restart.
`,
		"old": `old under sia

     0h00m00s  known since 1999-12-31 22:00:00 UTC, failed before this recording begins; asking for exactly 2 GPUs of any type

Failed before the recording begins: 0s profiling, 0s waiting, 0s with GPUs.
It held 0.00 GPU-hours; 0.00 of them went into its start.
`,
	} {
		s, err := Life(reader(t, again(t)), id)
		if diff := cmp.Diff(want, render(t, s, err)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAt_of_jobs_that_were_there_before(t *testing.T) {
	for id, want := range map[job.ID]string{
		"x":   "x has been running on 2 a100 GPUs for 3m00s: it keeps its GPUs",
		"old": "old failed before this recording begins.",
	} {
		s, err := At(reader(t, again(t)), id, 3*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(s.Moment.Sentence, want) {
			t.Errorf("got %q, want %q", s.Moment.Sentence, want)
		}
	}
}
