package whatif_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// queued returns a snapshot of waiting jobs of 10 min on the 4 GPUs of the cluster, in the order of their submission.
func queued(t *testing.T, jobs int) *policy.Snapshot {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := &policy.Snapshot{Now: now, Length: time.Minute, Cluster: nodes(t, 4, "a")}
	for i := range jobs {
		spec := &job.Spec{ID: job.ID(fmt.Sprintf("j%04d", i)), GPUs: 4, Timed: true, Target: 600}
		status := job.Status{Phase: job.Waiting, Submitted: now.Add(time.Duration(i-jobs) * time.Second), Since: now}
		s.Jobs = append(s.Jobs, &policy.Job{Spec: spec, Status: status, Perf: perf.ByDuration{Spec: spec}, Limits: &spec.Batch})
	}
	return s
}

// A simulation for one job ends after a few rounds if thousands of jobs are ahead of it. Near the head of the queue it
// continues until the job ends.
func TestAhead_stops_if_hopeless(t *testing.T) {
	const jobs = 3000
	s := queued(t, jobs)
	for _, test := range []struct {
		job  int
		why  whatif.Why
		most int // plans
	}{
		{2, whatif.Known, 200},
		{jobs - 1, whatif.TooLong, 12},
	} {
		rows, o := 0, options("fifo")
		o.CountRows(&rows)
		o.Awaited = []job.ID{s.Jobs[test.job].ID}
		found, err := whatif.Ahead(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := found[test.job]; got.Start.Why != test.why || got.End.Why != test.why || rows > test.most*jobs {
			t.Errorf("job %d: start %v, end %v after %d rows; want %v after at most %d", test.job, got.Start.Why, got.End.Why, rows, test.why, test.most*jobs)
		}
	}
}

// Without a start in the first simulation, the second is left out, and no other time is known.
func TestAhead_needs_no_second_simulation(t *testing.T) {
	s := queued(t, 20)
	o := options("fifo")
	o.Between, o.Rounds, o.Awaited = time.Hour, 15, []job.ID{s.Jobs[19].ID}
	rows := 0
	o.CountRows(&rows)
	found, err := whatif.Ahead(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		if f := &found[i]; f.Start.Why != whatif.Beyond || f.End.Why != whatif.Beyond {
			t.Errorf("%s: start %v, end %v; want both %v", f.Job, f.Start.Why, f.End.Why, whatif.Beyond)
		}
	}
	if rows > 16*20 {
		t.Errorf("%d rows, want those of one simulation of 15 rounds", rows)
	}
}
