package sia_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/sia"
)

// goodputs is a perf.Model that knows what a job achieves with what.
type goodputs map[cluster.Configuration]float64

func (g goodputs) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	return g[a.Configuration]
}
func (goodputs) Efficiency(float64) float64 { return 1 }

// Two jobs on a node of two A and a node of four B, as in §3.3.4 of the thesis:
// both are faster on B, but the first by far more.
func Example() {
	c, err := cluster.New([]cluster.Node{
		{ID: "a", GPUType: "A", Capacity: cluster.Resources{GPUs: 2}},
		{ID: "b", GPUType: "B", Capacity: cluster.Resources{GPUs: 4}},
	})
	if err != nil {
		log.Fatal(err)
	}
	one, two := cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "A"}, cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "B"}
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	row := func(id job.ID, g goodputs) *policy.Job {
		spec := &job.Spec{ID: id, MinGPUs: 2, Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 64, Max: 1024}}
		return &policy.Job{Spec: spec, Limits: &spec.Batch, Perf: g, Status: job.Status{Phase: job.Waiting, Submitted: now}}
	}
	s := &policy.Snapshot{Now: now, Length: time.Minute, Cluster: c, Jobs: []*policy.Job{
		row("J1", goodputs{one: 100, two: 400, {Nodes: 1, GPUs: 2, GPUType: "B"}: 250}),
		row("J2", goodputs{one: 100, two: 150, {Nodes: 1, GPUs: 2, GPUType: "B"}: 110}),
	}}

	p, err := sia.New(sia.DefaultOptions())
	if err != nil {
		log.Fatal(err)
	}
	plan, err := p.Plan(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	for i, j := range s.Jobs {
		d := &plan.Jobs[i]
		fmt.Printf("%s gets %v: %v, %g times as fast as on the least it runs on\n", j.ID, d.Allocation.Configuration, d.Why.Kind, d.Why.Value)
	}
	// Output:
	// J1 gets (1, 2, B): started, 2.5 times as fast as on the least it runs on
	// J2 gets (1, 2, B): started, 1.1 times as fast as on the least it runs on
}

func (goodputs) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
