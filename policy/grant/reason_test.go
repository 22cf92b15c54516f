package grant

import (
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// As many GPUs of the same type on another number of nodes are a move, and more are growth.
func TestStarted_on_other_nodes_is_a_move(t *testing.T) {
	on := func(nodes, gpus int) cluster.Allocation {
		return cluster.Allocation{Configuration: cluster.Configuration{Nodes: nodes, GPUs: gpus, GPUType: "t4"}}
	}
	j := &policy.Job{Status: job.Status{Allocation: on(2, 4)}}
	for _, c := range []struct {
		now  cluster.Allocation
		want policy.Kind
	}{{on(1, 4), policy.Moved}, {on(2, 8), policy.Grown}, {on(1, 2), policy.Shrunk}, {on(2, 4), policy.AsPlanned}} {
		if got := started(j, &c.now, 1, 1).Kind; got != c.want {
			t.Errorf("from %v to %v: %v, want %v", j.Allocation, c.now, got, c.want)
		}
	}
}
