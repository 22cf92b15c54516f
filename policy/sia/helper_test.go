package sia

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
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
			nodes = append(nodes, cluster.Node{
				ID: cluster.NodeID(fmt.Sprintf("%s-%d", s.gpu, i)), GPUType: s.gpu, Capacity: cluster.Resources{GPUs: s.size},
			})
		}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func on(nodes, gpus int, t cluster.GPUType) cluster.Configuration {
	return cluster.Configuration{Nodes: nodes, GPUs: gpus, GPUType: t}
}

// A table is a perf.Model of known goodputs: what is not listed does not run.
type table map[cluster.Configuration]float64

func (m table) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return m[a.Configuration] }
func (m table) Efficiency(float64) float64                               { return 1 }

// linear is as good as it has GPUs, of any type.
type linear struct{}

func (linear) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return float64(a.GPUs) }
func (linear) Efficiency(float64) float64                               { return 1 }

// waiting returns an adaptive job, submitted an hour before epoch, that waits.
// Its restarts cost nothing.
func waiting(id job.ID, m perf.Model, set ...func(*job.Spec)) *policy.Job {
	spec := &job.Spec{ID: id, GPUs: 1, Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 64, Max: 4096}}
	for _, f := range set {
		f(spec)
	}
	return &policy.Job{Spec: spec, Limits: &spec.Batch, Perf: m, Status: job.Status{Phase: job.Waiting, Submitted: epoch.Add(-time.Hour)}}
}

func holding(j *policy.Job, c cluster.Configuration) *policy.Job {
	row := *j
	row.Phase, row.Allocation.Configuration = job.Running, c
	row.Status.MaxGPUs = max(row.Status.MaxGPUs, c.GPUs)
	if c.IsZero() {
		row.Phase = job.Waiting
	}
	return &row
}

func snapshot(c *cluster.Cluster, jobs ...*policy.Job) *policy.Snapshot {
	return &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: c, Jobs: jobs}
}

func newPolicy(t testing.TB, o Options) *Policy {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mustPlan returns the plan for s, which keeps the rules.
func mustPlan(t testing.TB, p *Policy, s *policy.Snapshot) *policy.Plan {
	t.Helper()
	plan, err := p.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.Check(s, plan); err != nil {
		t.Fatal(err)
	}
	return plan
}

// grants returns what the jobs of s get.
func grants(t testing.TB, p *Policy, s *policy.Snapshot) []cluster.Configuration {
	t.Helper()
	plan := mustPlan(t, p, s)
	all := make([]cluster.Configuration, len(plan.Jobs))
	for i := range plan.Jobs {
		all[i] = plan.Jobs[i].Allocation.Configuration
	}
	return all
}

// values returns the value of every choice of the item of job i in the program
// of s.
func values(t testing.TB, p *Policy, s *policy.Snapshot, i int) map[cluster.Configuration]float64 {
	t.Helper()
	rows, err := p.program.Prepare(s, p.value(s))
	if err != nil {
		t.Fatal(err)
	}
	return rows[i].Choices()
}

// goodputOf and speed return what is believed of a job on c.
func goodputOf(j *policy.Job, c cluster.Configuration) float64 {
	g, _ := goodput.Goodput(j, c)
	return g
}

func speed(j *policy.Job, c cluster.Configuration) float64 {
	_, v := goodput.Goodput(j, c)
	return v
}

// pinned reports whether a reason is one of a job that keeps what it has, or gets
// what it reserved, whatever that is worth.
func pinned(why policy.Reason) bool {
	return why.Kind == policy.PinnedRestore || why.Kind == policy.PinnedNonPreempt || why.Kind == policy.Reserved
}

func (table) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

func (linear) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
