package shockwave

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// A job with numbers out of all range does not stop the planning for the others.
func TestPlan_with_extreme_jobs(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "g", Capacity: cluster.Resources{GPUs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(j *policy.Job, o *Options){
		"weight without bound":  func(j *policy.Job, _ *Options) { j.Weight = math.Inf(1) },
		"no weight":             func(j *policy.Job, _ *Options) { j.Weight = math.NaN() },
		"negative weight":       func(j *policy.Job, _ *Options) { j.Weight = -1 },
		"hardly a weight":       func(j *policy.Job, _ *Options) { j.Weight = math.SmallestNonzeroFloat64 },
		"far target":            func(j *policy.Job, _ *Options) { j.Spec.Target = 1e300 },
		"target without bound":  func(j *policy.Job, _ *Options) { j.Spec.Target = math.Inf(1) },
		"no target":             func(j *policy.Job, _ *Options) { j.Spec.Target = math.NaN() },
		"near target":           func(j *policy.Job, _ *Options) { j.Spec.Target, j.Progress = 1e-300, 0 },
		"beyond its target":     func(j *policy.Job, _ *Options) { j.Progress = 1e300 },
		"long start":            func(j *policy.Job, _ *Options) { j.Spec.RestartOverhead = math.MaxInt64 },
		"most unfair, as paper": func(j *policy.Job, o *Options) { o.Paper, o.K, j.Submitted = true, 20, time.Unix(0, 0) },
		"most unfair":           func(j *policy.Job, o *Options) { o.K, j.Submitted = 20, time.Unix(0, 0) },
		"of the future":         func(j *policy.Job, _ *Options) { j.Submitted = time.Unix(2e9, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			o, odd, plain := DefaultOptions(), scheduled(20, 10), scheduled(20, 10)
			odd.Allocation, odd.Phase = cluster.Allocation{}, job.Waiting
			plain.Spec.ID = "plain"
			plain.Allocation, plain.Phase = cluster.Allocation{}, job.Waiting
			change(odd, &o)
			p, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			s := &policy.Snapshot{Now: time.Unix(1e9, 0), Length: 2 * time.Minute, Cluster: c, Jobs: []*policy.Job{odd, plain}}
			for range 2 {
				plan, err := p.Plan(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				if s.Round > 0 && (plan.Stats.Failed != "" || p.window == nil || math.IsNaN(plan.Stats.Objective)) {
					t.Fatalf("got %s, want a window", fmt.Sprintf("%+v", plan.Stats))
				}
				s.Computed, s.Round = nil, s.Round+1
				if plan.Background != nil {
					s.Computed = plan.Background.Do(t.Context())
				}
			}
		})
	}
}
