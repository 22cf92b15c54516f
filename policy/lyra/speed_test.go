package lyra_test

import (
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra"
	"github.com/oxgang/oxgang/policy/policytest"
)

// modelled gives an elastic job a model: the progress per second of 1, 2, 3... GPUs.
func modelled(j *policy.Job, rates ...float64) *policy.Job {
	j.Timed, j.Perf = false, &policytest.Speedup{Rates: rates}
	return j
}

// Of jobs that have a model Lyra believes it: how far they grow, whom GPUs help, and who ends
// first.
func TestPlan_believes_models(t *testing.T) {
	for _, test := range []struct {
		name string
		jobs func(*toy)
		want string
	}{
		{"one that says no range grows while that makes it faster", func(w *toy) {
			modelled(elastic(w.submit("a", 1, 9*hour), 0), 1, 2, 3, 4, 5, 6, 5, 4)
		}, "a v0:6"},
		{"without a model it has twice what it asks for", func(w *toy) {
			elastic(w.submit("a", 1, 9*hour), 0)
		}, "a v0:2"},
		{"a range is kept", func(w *toy) {
			modelled(elastic(w.submit("a", 1, 9*hour), 3), 1, 2, 3, 4, 5, 6, 7, 8)
		}, "a v0:3"},
		{"sizes at which it does not run are passed by", func(w *toy) {
			modelled(elastic(w.submit("a", 1, 9*hour), 8), 1, 0, 0, 4, 3)
		}, "a v0:4"},
		{"GPUs go where they help", func(w *toy) {
			modelled(elastic(w.submit("a", 1, 9*hour), 8), 1, 1.01, 1.02, 1.03)
			modelled(elastic(w.submit("b", 1, 9*hour), 8), 1, 2, 3, 4, 5, 6, 7, 8)
		}, "a v0:1, b v0:7"},
		{"the shortest by its greatest speed starts", func(w *toy) {
			modelled(elastic(w.submit("a", 5, 3*hour), 8), 1, 1, 1, 1, 1, 1, 1, 1)
			modelled(elastic(w.submit("b", 5, 4*hour), 8), 1, 1, 1, 1, 1, 3, 1, 1)
		}, "a -, b v0:6"},
		{"what is left by believed speed", func(w *toy) { // 1 h against 2 h
			modelled(w.submit("a", 8, 2*hour), 1, 1, 1, 1, 1, 1, 1, 2)
			modelled(w.submit("b", 8, 2*hour), 1, 1, 1, 1, 1, 1, 1, 1)
		}, "a v0:8, b -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newToy(t, fresh(t, nil), 1, 0)
			test.jobs(w)
			if got := w.play().where(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// What a job is believed to do is looked up anew when it is believed otherwise.
func TestPlan_follows_a_model_that_changes(t *testing.T) {
	w := newToy(t, fresh(t, func(o *lyra.Options) { o.Allocate.Pause = 0 }), 1, 0)
	modelled(elastic(w.submit("a", 1, 9*hour), 8), 1, 2, 3, 4, 5, 6, 7, 8)
	if got := w.play().where(); got != "a v0:8" {
		t.Errorf("%s, want a v0:8", got)
	}
	row := *w.s.Jobs[0]
	w.s.Jobs[0] = modelled(&row, 1, 2, 2.5, 2.4, 2.3, 2.2, 2.1, 2)
	if got := w.play().where(); got != "a v0:3" {
		t.Errorf("%s, want a v0:3", got)
	}
}

// quick is a model by which a GPU of one type does so many times the work of another.
type quick map[cluster.GPUType]float64

func (q quick) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	return q[a.GPUType] * float64(a.GPUs)
}
func (quick) Efficiency(float64) float64 { return 1 }

// on lets a world have nodes of two types, old and new ones.
func (w *toy) on(older, newer int) *toy {
	w.t.Helper()
	c, err := cluster.New([]cluster.Node{
		{ID: "a", GPUType: "old", Capacity: cluster.Resources{GPUs: older}},
		{ID: "b", GPUType: "new", Capacity: cluster.Resources{GPUs: newer}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.s.Cluster = c
	return w
}

// Of several types of the training cluster a job that waits takes the one on which it is
// fastest with its share of what is there; where nothing is known, that which the cluster
// names first.
func TestPlan_takes_the_fastest_type(t *testing.T) {
	rigid := func(w *toy, id job.ID) *policy.Job { return w.submit(id, 4, hour) }
	scaling := func(w *toy, id job.ID) *policy.Job { return elastic(w.submit(id, 1, hour), 8) }
	for _, test := range []struct {
		name     string
		old, new int
		submit   func(*toy, job.ID) *policy.Job
		model    *quick
		jobs     []job.ID
		want     []cluster.GPUType
	}{
		{"nothing known", 4, 4, rigid, nil, []job.ID{"x", "y"}, []cluster.GPUType{"old", "new"}},
		{"rigid jobs", 4, 4, rigid, &quick{"old": 1, "new": 3}, []job.ID{"x", "y"}, []cluster.GPUType{"new", "old"}},
		// x: 4 new, 12, against 8 old; y: 2 new, 6, against 8 old; z: 2 new, against 4 old.
		{"those that grow", 8, 4, scaling, &quick{"old": 1, "new": 3}, []job.ID{"x", "y", "z"}, []cluster.GPUType{"new", "old", "new"}},
		{"no room where they are fastest", 8, 1, scaling, &quick{"old": 1, "new": 99}, []job.ID{"x", "y", "z"}, []cluster.GPUType{"new", "old", "old"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newToy(t, fresh(t, nil), 1, 0).on(test.old, test.new)
			for _, id := range test.jobs {
				j := test.submit(w, id)
				if j.GPUTypes = nil; test.model != nil {
					j.Timed, j.Perf = false, test.model
				}
			}
			w.play()
			for i, j := range w.s.Jobs {
				if got := j.Allocation.GPUType; got != test.want[i] {
					t.Errorf("%s is on %q, want %q", j.ID, got, test.want[i])
				}
			}
		})
	}
}

func (quick) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
