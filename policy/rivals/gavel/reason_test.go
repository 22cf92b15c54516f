package gavel_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/gavel"
)

func TestReasons(t *testing.T) {
	one := cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "a"}
	tests := []struct {
		name      string
		objective gavel.Objective
		submit    func(w *testCluster) // on two GPUs; the reason is that of the last job, after two rounds
		want      policy.Reason
	}{
		{
			"its turn is over", gavel.MaxMin,
			func(w *testCluster) {
				for _, id := range []string{"a", "b", "c"} {
					endless(w.submit(id, 1, 1))
				}
				w.jobs[0].Weight, w.jobs[1].Weight = 5, 5
			},
			policy.Reason{Kind: policy.WaitTurn, Value: 0, Limit: 120},
		},
		{
			"goes on", gavel.MaxMin,
			func(w *testCluster) { endless(w.submit("a", 1, 1)) },
			policy.Reason{Kind: policy.AsPlanned, Config: one},
		},
		{
			"never", gavel.MaxMin,
			func(w *testCluster) { endless(w.submit("a", 3, 1)) },
			policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 3}},
		},
		{
			"GPUs are pinned", gavel.MaxMin,
			func(w *testCluster) {
				j := endless(w.submit("a", 1, 1))
				j.NonPreemptive, j.Phase, j.Allocation.Configuration = true, job.Running, one
				endless(w.submit("b", 2, 1))
			},
			policy.Reason{Kind: policy.WaitNoCapacity, Config: cluster.Configuration{Nodes: 2, GPUs: 2, GPUType: "a"}, Value: 1, Limit: 2},
		},
		{
			"others are ahead", gavel.AlloX,
			func(w *testCluster) {
				endless(w.submit("a", 1, 1))
				endless(w.submit("b", 1, 1))
				endless(w.submit("c", 1, 1))
			},
			policy.Reason{Kind: policy.WaitServed, Config: one, Value: 0, Limit: 1},
		},
		{
			"it is being profiled", gavel.Sum,
			func(w *testCluster) { endless(w.submit("a", 1, 1)).Phase = job.Profiling },
			policy.Reason{Kind: policy.WaitProfile},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newTestCluster(t, 2, 1)
			test.submit(w)
			p := fresh(t, func(o *gavel.Options) { o.Objective = test.objective })
			w.play(p)
			plan := w.play(p)
			if d := cmp.Diff(test.want, plan.Jobs[len(plan.Jobs)-1].Why); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// A job of which nothing is known, and one that is believed to stand still, have
// their turns like the others.
func TestUnknown_jobs_have_their_share(t *testing.T) {
	for _, objective := range gavel.Objectives() {
		w := newTestCluster(t, 1, 1)
		endless(w.submit("known", 1, 0.2))
		endless(w.submit("unknown", 1, 1)).Perf = nil
		endless(w.submit("still", 1, 1)).Perf = speed{}
		had := w.served(fresh(t, func(o *gavel.Options) { o.Objective = objective }), 60)
		for _, id := range []job.ID{"known", "unknown", "still"} {
			if had[id]["a"] == 0 && objective != gavel.AlloX { // which serves one to its end
				t.Errorf("%s: job %s never ran", objective, id)
			}
		}
	}
}
