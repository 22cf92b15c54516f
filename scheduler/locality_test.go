package scheduler_test

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// What steps take in one rack and in several is learned by class from where jobs are when they report, and not from
// reports of what they no longer hold.
func TestScheduler_learns_what_several_racks_cost(t *testing.T) {
	d := newBench(t, unprofiled())
	var all []cluster.Node
	for id, rack := range map[cluster.NodeID]string{"a0": "a", "a1": "a", "b0": "b"} {
		all = append(all, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Rack: rack})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	d.step(scheduler.NodesChanged{Cluster: c})
	d.step(scheduler.Submitted{Spec: &job.Spec{ID: "j", Class: "bert", Adaptivity: job.StrongScaling}})
	train := func(seconds float64, gpus int) {
		on := d.row("j").Allocation.Configuration
		on.GPUs += gpus
		d.step(scheduler.Reported{Report: job.Report{Job: "j", Configuration: on, Batch: job.BatchSize{Local: 8}, StepTime: time.Duration(seconds * float64(time.Second))}})
	}
	for _, on := range []struct {
		second  cluster.NodeID
		seconds float64
	}{{"a1", 1}, {"b0", 1.5}} {
		d.policy.grants["j"] = on2("a0", on.second)
		d.round()
		for range 3 {
			train(on.seconds, 0)
			train(100, -1) // of GPUs that it had before
		}
	}
	s, _, _ := d.round()
	if got := s.Locality["bert"]; math.Abs(got.Times-1.5) > 1e-9 || got.Pairs != 1 {
		t.Errorf("bert: %+v, want 1.5 times by one pair", got)
	}
}

func on2(x, y cluster.NodeID) cluster.Placement { return on(share(x, 4), share(y, 4)) }
