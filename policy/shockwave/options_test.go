package shockwave

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
	"github.com/oxgang/oxgang/policy/policytest"
)

// As many GPUs of a type on other nodes are other options, for jobs that wait too.
func TestOptions_when_nodes_are_others(t *testing.T) {
	j := scheduled(20, 10)
	j.Spec.Adaptivity, j.Spec.Schedule, j.Status = job.StrongScaling, job.BatchSchedule{}, job.Status{Phase: job.Waiting}
	j.Perf = &policytest.Speedup{}
	p, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for round, nodes := range [][]cluster.Node{
		{{ID: "a", GPUType: "g", Capacity: cluster.Resources{GPUs: 2}}, {ID: "b", GPUType: "g", Capacity: cluster.Resources{GPUs: 2}}},
		{{ID: "c", GPUType: "g", Capacity: cluster.Resources{GPUs: 4}}},
	} {
		c, err := cluster.New(nodes)
		if err != nil {
			t.Fatal(err)
		}
		s := &policy.Snapshot{Now: time.Unix(1e9, 0), Round: round, Length: 2 * time.Minute, Cluster: c, Jobs: []*policy.Job{j}}
		p.update(s, grant.NewRound(s))
		if n := len(p.active[0].options); n != 3 {
			t.Fatalf("%d options, want 1, 2 and 4 GPUs", n)
		}
		for _, o := range p.active[0].options {
			if want := (o.GPUs*len(nodes) + 3) / 4; o.Nodes != want {
				t.Errorf("%d nodes: %v, want %d of them", len(nodes), o.Configuration, want)
			}
		}
	}
}
