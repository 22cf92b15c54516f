package run

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// percore is as fast as it has CPUs.
type percore struct{}

// Throughput implements perf.Model.
func (percore) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return a.CPUs }

// Efficiency implements perf.Model.
func (percore) Efficiency(float64) float64 { return 1 }

// TestGaps: one job has twice its share, another, of weight 2, its share, a third
// of which nothing is known its own, and a fourth waits: 2 + 2 + 1 of a bound of 10.
func TestGaps(t *testing.T) {
	node := cluster.Node{ID: "n", GPUType: "v100", Capacity: cluster.Resources{GPUs: 4, CPUs: 16, Memory: 64e9}}
	c, err := cluster.New([]cluster.Node{node})
	if err != nil {
		t.Fatal(err)
	}
	one := func(cpus float64) policy.Decision {
		return policy.Decision{Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}, CPUs: cpus, Memory: 16e9}}
	}
	s := &policy.Snapshot{Cluster: c, Jobs: []*policy.Job{
		{Spec: &job.Spec{}, Perf: percore{}},
		{Spec: &job.Spec{Weight: 2}, Perf: percore{}},
		{Spec: &job.Spec{}},
		{Spec: &job.Spec{}, Perf: percore{}},
	}}
	p := &policy.Plan{Jobs: []policy.Decision{one(8), one(4), one(4), {}}}
	run := &Run{}
	g := &gaps{run: run}
	g.Round(s, p, nil) // no bound
	p.Stats.Bound = 10
	g.Round(s, p, nil)
	if len(run.Gaps) != 1 || math.Abs(run.Gaps[0]-0.5) > 1e-12 {
		t.Fatalf("gaps %v, want one of 0.5", run.Gaps)
	}
	before := run.Gaps[0]
	g.Round(s, p, nil)
	p.Jobs[0] = one(4) // the same row with less
	g.Round(s, p, nil)
	p.Jobs[0] = one(8)
	g.Round(s, p, nil)
	if again, less, back := run.Gaps[1], run.Gaps[2], run.Gaps[3]; again != before || less <= before || back != before {
		t.Errorf("gaps %v, want the first once more, a larger one, and the first", run.Gaps)
	}
}

func (percore) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
