package shockwave

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A job with numbers out of all range does not stop the planning for the others.
func TestPlan_with_extreme_jobs(t *testing.T) {
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
			s := &policy.Snapshot{Now: time.Unix(1e9, 0), Length: 2 * time.Minute, Cluster: oneGPU(t), Jobs: []*policy.Job{odd, plain}}
			if plan := twice(t, p, s); plan.Stats.Failed != "" || p.window == nil || math.IsNaN(plan.Stats.Objective) {
				t.Fatalf("got %+v, want a window", plan.Stats)
			}
		})
	}
}

// A job whose start takes longer than a window runs where nobody else needs the GPUs.
func TestPlan_when_a_start_takes_longer_than_the_window(t *testing.T) {
	for _, window := range []int{1, 20, 64} {
		o, j := DefaultOptions(), scheduled(20, 10)
		o.Window = window
		j.Allocation, j.Phase, j.Spec.RestartOverhead = cluster.Allocation{}, job.Waiting, 100*time.Hour
		p, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		s := &policy.Snapshot{Now: time.Unix(1e9, 0), Length: 2 * time.Minute, Cluster: oneGPU(t), Jobs: []*policy.Job{j}}
		if plan := twice(t, p, s); plan.Jobs[0].Allocation.GPUs != 1 {
			t.Errorf("window of %d rounds: got %+v, want the GPU", window, plan.Jobs[0])
		}
	}
}

func oneGPU(t *testing.T) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "g", Capacity: cluster.Resources{GPUs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// twice plans a round and the next, as if nothing happened in between, with what the
// first had planned, and returns the second plan.
func twice(t *testing.T, p *Policy, s *policy.Snapshot) *policy.Plan {
	t.Helper()
	first, err := p.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	next := *s
	next.Round++
	next.Computed = first.Background.Do(t.Context())
	second, err := p.Plan(t.Context(), &next)
	if err != nil {
		t.Fatal(err)
	}
	return second
}
