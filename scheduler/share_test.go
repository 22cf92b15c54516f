package scheduler_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/scheduler"
)

// The rule of policy.Snapshot, where jobs of a class learn together: a row is another
// exactly if its job was reported of or believes something else. What jobs believe, a
// pool of the same jobs says that sees the same reports.
func TestScheduler_rows_of_jobs_that_share(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := unprofiled()
		o.Estimate.Share = true
		d := newBench(t, o)
		o.Estimate.Types = d.Snapshot(d.now).Cluster.Types()
		pool := estimate.NewPool(&o.Estimate)
		ids := []job.ID{"a", "b", "c", "d"}
		beliefs := make([]*estimate.Job, len(ids))
		for i, id := range ids {
			spec := &job.Spec{ID: id, Class: []job.Class{"x", "x", "y", ""}[i], Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 8, Max: 64}}
			d.step(scheduler.Submitted{Spec: spec})
			beliefs[i] = pool.New(spec)
		}
		for range 20 {
			before, models := d.Snapshot(d.now).Jobs, modelsOf(beliefs)
			k := rapid.IntRange(0, len(ids)-1).Draw(rt, "job")
			r := drawn(rt, ids[k])
			d.step(scheduler.Reported{Report: r})
			beliefs[k].Learn(&r)
			for i, now := range modelsOf(beliefs) {
				kept, same := d.Snapshot(d.now).Jobs[i] == before[i], i != k && now == models[i]
				if kept != same {
					rt.Fatalf("after a report of %s, the row of %s: pointer kept: %v, belief kept: %v, want both or neither", ids[k], ids[i], kept, same)
				}
			}
		}
	})
}

func modelsOf(beliefs []*estimate.Job) []*estimate.Model {
	models := make([]*estimate.Model, len(beliefs))
	for i, b := range beliefs {
		models[i], _ = b.Model()
	}
	return models
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
