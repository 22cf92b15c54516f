package queue

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// TestServiceLevel: jobs of one level do not take turns, so that a running job
// is not preempted by one that has had a little less service.
func TestServiceLevel(t *testing.T) {
	s := &policy.Snapshot{Now: time.Unix(0, 0)}
	for _, tc := range []struct {
		service time.Duration // GPU time
		want    float64
	}{{0, 0}, {59 * time.Minute, 0}, {time.Hour, 1}, {119 * time.Minute, 1}, {2 * time.Hour, 2}, {5 * time.Hour, 3}} {
		j := &policy.Job{Spec: &job.Spec{}, Status: job.Status{GPUService: tc.service}}
		if got := serviceLevel(s, j); got != tc.want {
			t.Errorf("%v: got level %v, want %v", tc.service, got, tc.want)
		}
	}
}

func TestLAS_leaves_a_job_of_the_same_level_running(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for service, keeps := range map[time.Duration]bool{30 * time.Minute: true, 90 * time.Minute: false} {
		now := time.Unix(1e6, 0)
		runs := &policy.Job{Spec: &job.Spec{ID: "a", GPUs: 1}, Status: job.Status{
			Phase: job.Running, Submitted: now.Add(-2 * time.Hour), Since: now, GPUService: service,
			Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "t4"}},
			Placement:  cluster.Placement{{Node: "n", Resources: cluster.Resources{GPUs: 1}}},
		}}
		waits := &policy.Job{Spec: &job.Spec{ID: "b", GPUs: 1}, Status: job.Status{Phase: job.Waiting, Submitted: now.Add(-time.Hour)}}
		plan, err := New(LAS()).Plan(t.Context(), &policy.Snapshot{Now: now, Length: time.Minute, Cluster: c, Jobs: []*policy.Job{runs, waits}})
		if err != nil {
			t.Fatal(err)
		}
		if got := !plan.Jobs[0].Allocation.IsZero(); got != keeps {
			t.Errorf("after %v of service: keeps its GPU is %v, want %v", service, got, keeps)
		}
	}
}
