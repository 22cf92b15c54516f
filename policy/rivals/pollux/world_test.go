package pollux_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

type shape struct {
	gpu         cluster.GPUType
	nodes, size int
}

func clusterOf(t testing.TB, shapes ...shape) *cluster.Cluster {
	t.Helper()
	var nodes []cluster.Node
	for _, s := range shapes {
		for i := range s.nodes {
			nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("%s-%02d", s.gpu, i)), GPUType: s.gpu, Capacity: cluster.Resources{GPUs: s.size}})
		}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A curve is a perf.Model: samples per second by GPUs, times alone on one node, and by
// GPU type.
type curve struct {
	speed  []float64 // with 0, 1, 2, ... GPUs, and as the last with more
	alone  float64   // factor of one node; 0 means 1
	faster map[cluster.GPUType]float64
}

func (c *curve) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	v := c.speed[min(a.GPUs, len(c.speed)-1)]
	if c.alone > 0 && a.Nodes == 1 {
		v *= c.alone
	}
	if f := c.faster[a.GPUType]; f > 0 {
		v *= f
	}
	return v
}
func (c *curve) Efficiency(float64) float64 { return 1 }

// linear is as fast as it has GPUs, up to 64.
func linear() *curve {
	c := &curve{}
	for i := range 65 {
		c.speed = append(c.speed, float64(i))
	}
	return c
}

// waiting returns an adaptive job, submitted an hour before epoch, that waits, and once
// ran on 32 GPUs. Its restarts cost nothing.
func waiting(id job.ID, m perf.Model, set ...func(*policy.Job)) *policy.Job {
	spec := &job.Spec{ID: id, GPUs: 1, Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 64, Max: 4096}}
	j := &policy.Job{Spec: spec, Limits: &spec.Batch, Perf: m, Status: job.Status{Phase: job.Waiting, Submitted: epoch.Add(-time.Hour), MaxGPUs: 32}}
	for _, f := range set {
		f(j)
	}
	return j
}

func snapshot(c *cluster.Cluster, jobs ...*policy.Job) *policy.Snapshot {
	return &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: c, Jobs: jobs}
}

// mustPlan returns the plan for s, which keeps the rules and gives a reason for all.
func mustPlan(t testing.TB, p policy.Policy, s *policy.Snapshot) *policy.Plan {
	t.Helper()
	plan, err := p.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.Check(s, plan); err != nil {
		t.Fatal(err)
	}
	for i := range plan.Jobs {
		if plan.Jobs[i].Why.Kind == policy.Unexplained {
			t.Errorf("job %s: no reason", s.Jobs[i].ID)
		}
	}
	return plan
}

// next returns the snapshot a minute after a plan was carried out.
func next(s *policy.Snapshot, plan *policy.Plan) *policy.Snapshot {
	n := *s
	n.Round, n.Now, n.Jobs = s.Round+1, s.Now.Add(s.Length), nil
	for i, j := range s.Jobs {
		row, d := *j, &plan.Jobs[i]
		if !d.Placement.SameGPUs(j.Placement) {
			row.GPUService, row.Since = j.AttainedGPUService(n.Now), n.Now
			if !row.FirstStarted.IsZero() {
				row.Restarts++
			}
			row.Allocation, row.Placement, row.Phase = d.Allocation, d.Placement, job.Waiting
			if d.Allocation.GPUs > 0 {
				row.Phase, row.FirstStarted = job.Running, n.Now
			}
			row.Status.MaxGPUs = max(j.Status.MaxGPUs, d.Allocation.GPUs)
		}
		n.Jobs = append(n.Jobs, &row)
	}
	return &n
}

func (*curve) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
