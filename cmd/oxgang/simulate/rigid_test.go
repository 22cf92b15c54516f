package simulate

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/workload"
)

func TestRigidHint(t *testing.T) {
	node := func(id cluster.NodeID, t cluster.GPUType) cluster.Node {
		return cluster.Node{ID: id, GPUType: t, Capacity: cluster.Resources{GPUs: 8}}
	}
	for name, test := range map[string]struct {
		nodes    []cluster.Node
		rigid    int // of ten jobs
		policies []string
		want     string
	}{
		"rigid, on one type":       {[]cluster.Node{node("n", "a")}, 10, []string{"sia", "easy"}, "hint: 10 of 10 jobs"},
		"one job that adapts":      {[]cluster.Node{node("n", "a")}, 9, []string{"sia"}, "hint: 9 of 10 jobs"},
		"two of them":              {[]cluster.Node{node("n", "a")}, 8, []string{"sia"}, ""},
		"two types to choose from": {[]cluster.Node{node("n", "a"), node("m", "b")}, 10, []string{"sia"}, ""},
		"without sia":              {[]cluster.Node{node("n", "a")}, 10, []string{"srtf"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := cluster.New(test.nodes)
			if err != nil {
				t.Fatal(err)
			}
			in := &run.Inputs{Cluster: c, Arrivals: make([]workload.Arrival, 10)}
			for i := range in.Arrivals {
				in.Arrivals[i].Spec.Adaptivity = job.Rigid
				if i >= test.rigid {
					in.Arrivals[i].Spec.Adaptivity = job.Adaptive
				}
			}
			got := rigidHint(in, test.policies)
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Seeds that generate other numbers of jobs than the first do not make the bar
// longer than its frame.
func TestJobsOf(t *testing.T) {
	var tasks []*task
	for _, jobs := range []int{2, 3} {
		tasks = append(tasks, &task{Inputs: &run.Inputs{Arrivals: make([]workload.Arrival, jobs)}})
	}
	if got := jobsOf(tasks); got != 5 {
		t.Errorf("got %d jobs, want 5", got)
	}
}
