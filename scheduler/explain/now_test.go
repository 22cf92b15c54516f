package explain_test

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain"
)

// Of a plan that nobody recorded, every job is told why it has what it has.
func TestNow(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	four := cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a100"}
	s, p := &policy.Snapshot{Cluster: c}, &policy.Plan{Prices: []policy.TypePrice{{Type: "a100", Price: 2}}}
	add := func(id job.ID, gets cluster.Configuration, why policy.Reason) {
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: id, GPUs: 4}})
		p.Jobs = append(p.Jobs, policy.Decision{Allocation: cluster.Allocation{Configuration: gets}, Why: why})
	}
	add("runs", four, policy.Reason{Kind: policy.Started, Value: 1.5})
	on := cluster.Placement{{Node: "n", Resources: cluster.Resources{GPUs: 4}}}
	p.Jobs[0].Placement = on
	add("stops", cluster.Configuration{}, policy.Reason{Kind: policy.WaitNoCapacity, Config: four, Limit: 4})
	s.Jobs[1].Placement, s.Jobs[1].Allocation.Configuration = on, four
	add("dear", cluster.Configuration{}, policy.Reason{Kind: policy.WaitPrice, Config: four, Value: 1, Limit: 2})
	add("dearer", cluster.Configuration{}, policy.Reason{Kind: policy.WaitPrice, Config: four, Value: 0.5, Limit: 2})
	all := explain.Now(s, p)
	for id, want := range map[job.ID]struct{ reason, text string }{
		"runs":   {"started", "stops gave up GPUs on its nodes"},
		"stops":  {"waiting: no capacity", "preempted: runs started on its 4 a100 GPUs"},
		"dear":   {"waiting: price too high", "4 a100 GPUs are free, but starting it was not better for all jobs together"},
		"dearer": {"waiting: price too high", "1 job that gains more from a100 GPUs comes first (dear)"},
	} {
		if got := all.Of(id); got.Reason != want.reason || !strings.Contains(got.Text, want.text) {
			t.Errorf("%s: %+v, want %q and %q", id, got, want.reason, want.text)
		}
	}
}

// Nothing helps a job that is profiled, or that has GPUs.
func TestUnblockable(t *testing.T) {
	for want, m := range map[bool][]*explain.Moment{
		true:  {{Phase: job.Waiting.String()}},
		false: {{Phase: job.Profiling.String()}, {Phase: job.Running.String(), Holds: &explain.Holding{GPUs: 1}}},
	} {
		for _, m := range m {
			if got := m.Unblockable(); got != want {
				t.Errorf("%+v: %v, want %v", m, got, want)
			}
		}
	}
}
