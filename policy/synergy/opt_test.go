package synergy

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/policy"
)

// drawSpreading draws nodes and jobs with cells that fit all nodes together: some
// take of their neighbours what those do not need.
func drawSpreading(t *rapid.T) (*Policy, *policy.Snapshot) {
	var nodes []cluster.Node
	for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprint("n", i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 8, CPUs: 24, Memory: 480e9}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	p, s := &Policy{}, &policy.Snapshot{Cluster: c}
	p.meet(c)
	spare := cluster.Resources{}
	for left := c.GPUs(); left > 0; {
		gpus := min(left, rapid.SampledFrom([]int{1, 2, 4, 8, 3}).Draw(t, "GPUs"))
		left -= gpus
		one := cell{}
		one.CPUs, one.Memory = rapid.Float64Range(0.5, 3).Draw(t, "CPUs"), int64(rapid.IntRange(1, 60).Draw(t, "GB"))*1e9
		if rapid.Bool().Draw(t, "hungry") {
			one.CPUs, one.Memory = 3+spare.CPUs/float64(gpus), 60e9+spare.Memory/int64(gpus)
		}
		spare.CPUs += float64(gpus) * (3 - one.CPUs)
		spare.Memory += int64(gpus) * (60e9 - one.Memory)
		p.tenants = append(p.tenants, tenant{index: len(s.Jobs), gpus: gpus, cells: []cell{one}})
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{GPUs: gpus}})
	}
	p.packing.reset(len(p.tenants))
	return p, s
}

// "We can prove that the solution to the second LP ensures that the total number of
// jobs that get fragmented is at most 3s." Source: Synergy §4.1.2. The proof is beside
// spreading.
func TestSpreading_divides_at_most_three_jobs_a_node(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	rapid.Check(t, func(t *rapid.T) {
		p, s := drawSpreading(t)
		m := p.spreading(0)
		problem, err := m.problem(p, s)
		if err != nil {
			t.Fatal(err)
		}
		o := exact.DefaultOptions()
		o.Method = exact.Simplex
		solver, err := exact.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sol, err := solver.Solve(t.Context(), problem)
		if err != nil {
			t.Fatal(err)
		}
		if sol.Status != lp.Optimal {
			t.Fatalf("status %v, want a solution: all fits all nodes, which are alike", sol.Status)
		}
		divided := 0
		for k := range m.x {
			parts := 0
			for _, c := range m.x[k] {
				if sol.Value(c) > 1e-9 {
					parts++
				}
			}
			if parts > 1 {
				divided++
			}
		}
		if most := 3 * len(m.nodes); divided > most {
			t.Errorf("%d jobs divided over %d nodes, want at most %d", divided, len(m.nodes), most)
		}
		best, err := m.fewest(t.Context(), solver, problem)
		if err != nil {
			t.Fatal(err)
		}
		if first, fewest := m.divided(sol), m.divided(best); fewest > first {
			t.Errorf("divides jobs of %d GPUs, and %d at first", fewest, first)
		}
	})
}

// Whether or not the second program divides them, all jobs have room, with all their
// GPUs.
func TestDeploy_places_every_job(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	rapid.Check(t, func(t *rapid.T) {
		p, s := drawSpreading(t)
		plan := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs)), Fungible: true}
		for i, j := range s.Jobs {
			want := cluster.Configuration{Nodes: 1, GPUs: j.GPUs, GPUType: "v100"}
			plan.Jobs[i].Allocation = p.cluster.Types()[0].Proportional(want)
		}
		if err := p.deploy(t.Context(), s, plan); err != nil || plan.Fungible {
			t.Fatalf("not solved: %v", err)
		}
		for i, j := range s.Jobs {
			if got := plan.Jobs[i].Placement.GPUs(); got != j.GPUs {
				t.Errorf("job %d is placed on %d GPUs, want %d", i, got, j.GPUs)
			}
		}
		if err := policy.CheckPlacement(s, plan); err != nil {
			t.Error(err)
		}
	})
}
