package jobstate

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Past is what the previous leader stored about a job, in the Plan object.
type Past struct {
	Allocation v1alpha1.JobAllocation
	state      v1alpha1.JobState
}

// PastOf returns what plan p stores about each of its jobs.
func PastOf(p *v1alpha1.Plan) map[job.ID]Past {
	all := make(map[job.ID]Past, len(p.Spec.Allocations))
	for _, a := range p.Spec.Allocations {
		all[job.ID(a.UID)] = Past{Allocation: a}
	}
	for _, s := range p.Status.Jobs {
		if old, known := all[job.ID(s.UID)]; known {
			old.state = s
			all[job.ID(s.UID)] = old
		}
	}
	return all
}

// Restore sets the state of job e to what the previous leader stored.
func (p *Past) Restore(e *Job) {
	a, s := &p.Allocation, &p.state
	e.Held = Grant{Generation: max(a.Generation, e.Parsed.Generation)}
	e.Status = job.Status{
		Phase: job.Waiting, Submitted: s.Submitted.Time, Since: s.Since.Time,
		Service: time.Duration(s.ServiceMillis) * time.Millisecond, GPUService: time.Duration(s.GPUServiceMillis) * time.Millisecond,
		Restarts: int(s.Restarts), Progress: float64(s.ProgressMilli) / 1000, Epoch: int(s.Epoch),
	}
	if s.Submitted.IsZero() {
		e.Status.Submitted, e.Status.Since = e.Parsed.Created, e.Parsed.Created
	}
	if s.Started != nil {
		e.Status.FirstStarted = s.Started.Time
	}
	e.Failures, e.Reports = int(s.Failures), ReportsOf(s)
	e.Agent.Hello = helloOf(s)
	e.Agent.Reporting = e.Agent.Hello != nil
	if a.GPUs == 0 {
		return
	}
	e.Held, e.Since = GrantOf(a), time.Time{}
	e.Agent.SetHello(e.Agent.Hello, e)
	e.Status.Phase, e.Status.Allocation, e.Status.Placement = job.Restoring, e.Held.Allocation, e.Held.Placement
}

// GrantOf converts an allocation of a Plan object into a Grant, with sorted nodes.
func GrantOf(a *v1alpha1.JobAllocation) Grant {
	g := Grant{Generation: a.Generation}
	g.Configuration = cluster.Configuration{Nodes: len(a.Nodes), GPUs: int(a.GPUs), GPUType: cluster.GPUType(a.GPUType)}
	g.CPUs, g.Memory = float64(a.MilliCPUs)/1000, a.MemoryBytes
	for _, n := range a.Nodes {
		part := float64(n.GPUs) / float64(a.GPUs)
		g.Placement = append(g.Placement, cluster.Share{
			Node:      cluster.NodeID(n.Name),
			Resources: cluster.Resources{GPUs: int(n.GPUs), CPUs: g.CPUs * part, Memory: int64(float64(g.Memory) * part)},
		})
	}
	g.Placement.Sort()
	if a.Batch != nil {
		g.Batch = job.BatchSize{Local: int(a.Batch.Local), Accumulation: int(a.Batch.Accumulation)}
	}
	return g
}

// A Grant is what a plan gives a job: GPUs, nodes, CPUs and memory.
type Grant struct {
	Generation int64
	cluster.Allocation
	Placement cluster.Placement
	Batch     job.BatchSize
}

// Allocation converts a grant of job e into an allocation of a Plan object.
func Allocation(e *Job, g *Grant) v1alpha1.JobAllocation {
	a := v1alpha1.JobAllocation{
		UID: e.Parsed.UID, Kind: e.Parsed.Kind, Namespace: e.Parsed.Namespace, Name: e.Parsed.Name, Generation: g.Generation,
		GPUs: int32(g.GPUs), GPUType: string(g.GPUType), MilliCPUs: int64(math.Round(1000 * g.CPUs)), MemoryBytes: g.Memory,
	}
	for _, s := range g.Placement {
		a.Nodes = append(a.Nodes, v1alpha1.NodeShare{Name: string(s.Node), GPUs: int32(s.GPUs)})
	}
	if g.Batch.Local > 0 {
		a.Batch = &v1alpha1.Batch{Local: int32(g.Batch.Local), Accumulation: int32(g.Batch.Accumulation)}
	}
	return a
}

// Alike reports whether two allocations are equal except for messages and predictions.
func Alike(a, b v1alpha1.JobAllocation) bool {
	return a.UID == b.UID && a.Generation == b.Generation && a.GPUs == b.GPUs && a.Reason == b.Reason
}
