package grant_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
	"github.com/oxgang/oxgang/policy/policytest"
)

// Whatever is granted, in any order and on any type, the plan keeps the rules.
func TestRound_grants_keep_the_rules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := policytest.NewWorld(t).Snapshot()
		r := grant.NewRound(s)
		types := s.Cluster.Types()
		for range rapid.IntRange(0, 30).Draw(t, "grants") {
			if len(s.Jobs) == 0 {
				break
			}
			i, at := rapid.IntRange(0, len(s.Jobs)-1).Draw(t, "job"), rapid.IntRange(0, len(types)-1).Draw(t, "type")
			if r.Decided(i) {
				continue
			}
			gang, ok := r.Gang(i, at)
			before := r.Free(at)
			switch granted := r.Grant(i, at); {
			case granted != (ok && gang.GPUs <= before):
				t.Fatalf("job %d, %d GPUs of %d free: granted %v", i, gang.GPUs, before, granted)
			case granted && (!r.Decided(i) || r.Free(at) != before-gang.GPUs):
				t.Fatalf("job %d got %v, and %d GPUs of %d are free", i, gang.Configuration, r.Free(at), before)
			}
		}
		plan := r.Plan()
		policy.FillProportional(s, plan)
		if err := policy.Check(s, plan); err != nil {
			t.Fatal(err)
		}
	})
}

// Jobs that run stay on their nodes; a reservation that is granted has none yet, and closes its type to others.
func TestRound_stay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := policytest.NewWorld(t).Snapshot()
		r := grant.NewRound(s)
		r.KeepRunning()
		closed := r.Stay()
		want := make([]bool, len(closed))
		for i, j := range s.Jobs {
			d := &r.Plan().Jobs[i]
			kept := j.Holding() && len(j.Placement) > 0 && j.Allocation.SameGPUs(&d.Allocation)
			if kept && !d.Placement.Equal(j.Placement) || !kept && d.Placement != nil {
				t.Fatalf("job %d is placed on %v, has %v, which it keeps: %v", i, d.Placement, j.Placement, kept)
			}
			for k, info := range s.Cluster.Types() {
				want[k] = want[k] || !d.Allocation.IsZero() && !kept && d.Allocation.Has(info.Type)
			}
		}
		if !slices.Equal(closed, want) {
			t.Fatalf("types closed %v, want %v: %v", closed, want, r.Plan().Jobs)
		}
	})
}

// Whatever amount is given to elastic jobs and gangs, the plan keeps the rules, and
// who has nothing is told why.
func TestRound_amounts_keep_the_rules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := policytest.NewWorld(t).Snapshot()
		r := grant.NewRound(s)
		types := s.Cluster.Types()
		for i := range s.Jobs {
			at, n := rapid.IntRange(0, len(types)-1).Draw(t, "type"), rapid.IntRange(0, 20).Draw(t, "GPUs")
			least, most, step := r.Range(i, at)
			fits := least > 0 && n >= least && n <= most && (n-least)%step == 0 && n <= r.Free(at)
			switch {
			case r.Decided(i):
			case r.Give(i, at, n) != fits:
				t.Fatalf("job %d, %d GPUs of %d to %d by %d: given %v", i, n, least, most, step, !fits)
			case !fits:
				r.Refuse(i)
			}
			if r.Plan().Jobs[i].Why.Kind == policy.Unexplained {
				t.Fatalf("job %d: nobody says why", i)
			}
		}
		plan := r.Plan()
		policy.FillProportional(s, plan)
		if err := policy.Check(s, plan); err != nil {
			t.Fatal(err)
		}
	})
}

// An elastic job's speed is relative to that with its fewest GPUs, here two.
func TestRound_Give_says_how_fast_a_job_is(t *testing.T) {
	spec := &job.Spec{ID: "a", GPUs: 4, MinGPUs: 2, BatchSize: 64, Adaptivity: job.StrongScaling}
	j := &policy.Job{Spec: spec, Perf: still{}, Limits: &spec.Batch}
	s := &policy.Snapshot{Cluster: counted(t), Jobs: []*policy.Job{j}}
	r := grant.NewRound(s)
	if !r.Give(0, 0, 6) {
		t.Fatal("6 GPUs of 16 are not given")
	}
	// 66 samples in a pass of six, 64 in one of two
	if got, want := r.Plan().Jobs[0].Why.Value, 66.0/64; math.Abs(got-want) > 1e-12 {
		t.Errorf("speed %g, want %g", got, want)
	}
}

// A still is a perf.Model of as many samples per second as a batch has, with
// efficiency one half.
// counted returns two nodes that count CPUs and memory.
func counted(t testing.TB) *cluster.Cluster {
	t.Helper()
	node := func(id cluster.NodeID) cluster.Node {
		return cluster.Node{ID: id, GPUType: "v100", Capacity: cluster.Resources{GPUs: 8, CPUs: 24, Memory: 480e9}}
	}
	c, err := cluster.New([]cluster.Node{node("a"), node("b")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type still struct{}

func (still) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	return float64(a.GPUs * b.PerReplica())
}
func (still) Efficiency(float64) float64 { return 0.5 }

func (still) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

var _ perf.Model = still{}

func TestSpeed_is_that_with_the_batch_it_trains_with(t *testing.T) {
	spec := &job.Spec{GPUs: 2, BatchSize: 32, Batch: job.BatchLimits{Init: 32, Max: 64}, Adaptivity: job.Rigid}
	j := &policy.Job{Spec: spec, Perf: still{}, Limits: &spec.Batch}
	on := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a"}}
	check := func(what string, wantRate, wantPass float64) {
		t.Helper()
		if rate, pass := j.Speed(on); rate != wantRate || pass != wantPass {
			t.Errorf("%s: %g and %g a pass, want %g and %g", what, rate, pass, wantRate, wantPass)
		}
	}
	check("before its first report", 16, 16)
	j.Status.Batch.Local = 64
	check("after it", 64, 64)
	spec.Adaptivity = job.StrongScaling
	check("if its replicas may be more or fewer", 16, 16)
	spec.Adaptivity = job.Rigid
	j.Perf = nil
	check("with no model", 0, 0)
}
