package scheduler_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// The rule of policy.Snapshot, where jobs of a class learn together: a row is another
// exactly if its job was reported of or believes something else.
func TestScheduler_rows_of_jobs_that_share(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := unprofiled()
		o.Estimate.Share = true
		d := newDesk(t, o)
		ids := []job.ID{"a", "b", "c", "d"}
		for i, id := range ids {
			d.step(scheduler.Submitted{Spec: &job.Spec{ID: id, Class: []job.Class{"x", "x", "y", ""}[i], Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 8, Max: 64}}})
		}
		for range 20 {
			before := d.Snapshot(d.now).Jobs
			k := rapid.IntRange(0, len(ids)-1).Draw(rt, "job")
			d.step(scheduler.Reported{Report: drawn(rt, ids[k])})
			for i, row := range d.Snapshot(d.now).Jobs {
				kept, same := row == before[i], i != k && row.Perf == before[i].Perf
				if kept != same {
					rt.Fatalf("after a report of %s, the row of %s: pointer kept: %v, belief kept: %v, want both or neither", ids[k], ids[i], kept, same)
				}
			}
		}
		shared(rt, d.Snapshot(d.now).Jobs)
	})
}

// drawn returns a report of a few measurements that often repeat.
func drawn(t *rapid.T, id job.ID) job.Report {
	gpus := rapid.IntRange(1, 2).Draw(t, "GPUs")
	return job.Report{
		Job: id, Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "t4"}, Batch: job.BatchSize{Local: 8},
		StepTime: time.Duration(rapid.IntRange(0, 2).Draw(t, "seconds")) * time.Second, GradSqr: 1,
		GradVar: float64(rapid.IntRange(0, 1).Draw(t, "variance")), Epoch: rapid.IntRange(0, 2).Draw(t, "epoch"),
	}
}

// shared fails unless the jobs a and b, which are of one class, know of equally much.
func shared(t *rapid.T, rows []*policy.Job) {
	if a, b := rows[0], rows[1]; (a.Perf == nil) != (b.Perf == nil) {
		t.Fatalf("models %v of a and %v of b, want both or none", a.Perf, b.Perf)
	}
}
