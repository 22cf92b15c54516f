package whatif

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// How wrong models are is measured from what jobs do: of a steady one they are right.
func TestLookout_measures_models(t *testing.T) {
	on := cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "a100"}
	l := NewPredictor(nil, scheduler.DefaultOptions(), []cluster.TypeInfo{{Type: "a100", GPUs: 1, Nodes: 1, PerNode: 1}})
	now := time.Unix(0, 0)
	l.Event(now, scheduler.Submitted{Spec: &job.Spec{ID: "x", Batch: job.BatchLimits{Init: 8, Max: 8}}})
	for i := range 20 {
		now = now.Add(30 * time.Second)
		l.Event(now, scheduler.Reported{Report: job.Report{
			Job: "x", Configuration: on, Interval: 30 * time.Second, Batch: job.BatchSize{Local: 8}, StepTime: time.Second, Progress: float64(240 * i),
		}})
	}
	l.Round(&policy.Snapshot{Now: now}, nil, nil)
	if _, o := l.State(); o.Spread > 0.05 {
		t.Errorf("spread %v, want next to none", o.Spread)
	}
}
