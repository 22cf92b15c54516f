package multifactor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/multifactor"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// nodes returns so many nodes of four GPUs.
func nodes(t *testing.T, many int) *cluster.Cluster {
	t.Helper()
	var all []cluster.Node
	for i := range many {
		all = append(all, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), GPUType: "a", Capacity: cluster.Resources{GPUs: 4}})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// waits is a job that waits: of so many GPUs, each worker with as many on a node of its own, and a time limit.
func waits(id string, gpus, worker int, limit time.Duration) *policy.Job {
	return &policy.Job{
		Spec:   &job.Spec{ID: job.ID(id), GPUs: gpus, WorkerGPUs: worker, Timed: true, Target: limit.Seconds(), Adaptivity: job.Rigid},
		Status: job.Status{Phase: job.Waiting, Submitted: start, Since: start},
	}
}

// runs is a job that has run on nodes, with so many GPUs of each, since start.
func runs(id string, gpus int, limit time.Duration, on ...string) *policy.Job {
	j := waits(id, gpus*len(on), gpus, limit)
	j.Phase = job.Running
	j.Allocation = cluster.Allocation{Configuration: cluster.Configuration{Nodes: len(on), GPUs: gpus * len(on), GPUType: "a"}}
	for _, n := range on {
		j.Placement = append(j.Placement, cluster.Share{Node: cluster.NodeID(n), Resources: cluster.Resources{GPUs: gpus}})
	}
	return j
}

// decided plans a round and returns who is where, without those who ran before: "b n0=4,n1=4; c -".
func decided(t *testing.T, o multifactor.Options, many int, after time.Duration, jobs ...*policy.Job) string {
	t.Helper()
	p, err := multifactor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Now: start.Add(after), Length: time.Minute, Cluster: nodes(t, many), Jobs: jobs}
	plan, err := p.Plan(t.Context(), s)
	if err == nil {
		err = policy.Check(s, plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for i, j := range jobs {
		if j.Holding() {
			continue
		}
		on := "-"
		if d := &plan.Jobs[i]; d.Placement != nil {
			on = ""
			for _, s := range d.Placement {
				on += fmt.Sprintf(",%s=%d", s.Node, s.GPUs)
			}
		}
		parts = append(parts, string(j.ID)+" "+strings.TrimPrefix(on, ","))
	}
	return strings.Join(parts, "; ")
}

// TestPlan: who starts where. Slurm's documents say it: "Multifactor Priority Plugin", "Scheduling Configuration
// Guide" (backfill: "will start lower priority jobs if doing so does not delay the expected start time of any higher
// priority jobs").
func TestPlan(t *testing.T) {
	urgent := func(j *policy.Job) *policy.Job { j.Priority = 1e6; return j }
	in := func(queue string, j *policy.Job) *policy.Job { j.Queue = queue; return j }
	hour := time.Hour
	for name, test := range map[string]struct {
		nodes int
		jobs  []*policy.Job
		want  string
		set   func(*multifactor.Options)
	}{
		"workers are on nodes of their own":           {2, []*policy.Job{waits("b", 4, 2, hour)}, "b n0=2,n1=2", nil},
		"the highest priority first":                  {1, []*policy.Job{waits("b", 4, 4, hour), urgent(waits("c", 4, 4, hour))}, "b -; c n0=4", nil},
		"one that does not fit blocks its queue":      {2, []*policy.Job{runs("a", 4, hour, "n0"), waits("b", 8, 4, hour), waits("c", 1, 1, 2*hour)}, "b -; c -", nil},
		"a short one passes":                          {2, []*policy.Job{runs("a", 4, hour, "n0"), waits("b", 8, 4, hour), waits("c", 1, 1, hour/2)}, "b -; c n1=1", nil},
		"without backfilling it does not":             {2, []*policy.Job{runs("a", 4, hour, "n0"), waits("b", 8, 4, hour), waits("c", 1, 1, hour/2)}, "b -; c -", func(o *multifactor.Options) { o.Tests = 0 }},
		"nor beyond the jobs that are tested":         {2, []*policy.Job{runs("a", 4, hour, "n0"), waits("b", 8, 4, hour), waits("c", 1, 1, hour/2)}, "b -; c -", func(o *multifactor.Options) { o.Tests = 1 }},
		"beyond the window nothing is reserved":       {2, []*policy.Job{runs("a", 4, hour, "n0"), waits("b", 8, 4, hour), waits("c", 1, 1, 2*hour)}, "b -; c n1=1", func(o *multifactor.Options) { o.Horizon = time.Minute }},
		"a whole node is reserved, needed or not":     {1, []*policy.Job{runs("a", 2, hour, "n0"), waits("b", 3, 3, hour), waits("c", 1, 1, 2*hour)}, "b -; c -", nil},
		"a reservation is for the second in line too": {3, []*policy.Job{runs("a", 4, hour, "n0"), runs("x", 4, 3*hour, "n1"), waits("b", 8, 4, hour), waits("c", 8, 4, hour), waits("d", 4, 4, 4*hour)}, "b -; c -; d -", nil},
		"another queue is not blocked by it":          {2, []*policy.Job{runs("a", 4, hour, "n0"), in("p", waits("b", 8, 4, hour)), in("q", waits("c", 1, 1, hour/2))}, "b -; c n1=1", nil},
		"ends within half a minute count as one":      {2, []*policy.Job{runs("a", 3, 10*time.Minute, "n0"), runs("x", 4, 620*time.Second, "n1"), waits("b", 4, 4, hour), waits("c", 1, 1, 550*time.Second)}, "b -; c n0=1", nil},
		"the shortest run of nodes that is enough":    {5, []*policy.Job{runs("a", 4, hour, "n3"), waits("b", 4, 4, hour)}, "b n4=4", nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := multifactor.DefaultOptions()
			if test.set != nil {
				test.set(&o)
			}
			if got := decided(t, o, test.nodes, time.Minute, test.jobs...); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestPriority: age is worth as much as is set, and no more after a time.
func TestPriority(t *testing.T) {
	old, young := waits("old", 4, 4, time.Hour), waits("young", 4, 4, time.Hour)
	young.Submitted = start.Add(time.Hour)
	young.Priority = 50
	for name, test := range map[string]struct {
		age    float64
		maxAge time.Duration
		want   string
	}{
		"an hour is worth more":     {1000, 10 * time.Hour, "old n0=4; young -"},
		"an hour is worth less":     {400, 10 * time.Hour, "old -; young n0=4"},
		"both are as old as counts": {1000, time.Second, "old -; young n0=4"},
	} {
		o := multifactor.DefaultOptions()
		o.Age, o.MaxAge = test.age, test.maxAge
		if got := decided(t, o, 1, 2*time.Hour, old, young); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// TestFairShare: who has used less is served first.
func TestFairShare(t *testing.T) {
	o := multifactor.DefaultOptions()
	o.Age, o.FairShare = 0, 1000
	p, err := multifactor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := runs("a", 4, time.Hour, "n0"), waits("b", 4, 4, time.Hour), waits("c", 4, 4, time.Hour)
	a.User, b.User, c.User = "x", "x", "y"
	world := nodes(t, 1)
	round := func(after time.Duration, jobs ...*policy.Job) *policy.Plan {
		plan, err := p.Plan(t.Context(), &policy.Snapshot{Now: start.Add(after), Length: time.Minute, Cluster: world, Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	round(0, a, b, c)
	round(10*time.Minute, a, b, c)
	if plan := round(20*time.Minute, b, c); plan.Jobs[0].Allocation.GPUs != 0 || plan.Jobs[1].Allocation.GPUs != 4 {
		t.Errorf("x has used the node, y has not: got %v and %v, want none and all", plan.Jobs[0].Allocation, plan.Jobs[1].Allocation)
	}
}

func TestOptions(t *testing.T) {
	o := multifactor.Options{Weights: multifactor.Weights{Age: -1}, Backfill: multifactor.Backfill{Interval: -1, Tests: -1}}
	_, err := multifactor.New(o)
	for _, want := range []string{"age -1", "max-age 0s", "interval -1ns", "tests -1, depth 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// TestPlan_host: a job that says nothing of CPUs and memory has its GPUs' part of each node, also where it has a GPU less of
// one, so that those who come later find theirs.
func TestPlan_host(t *testing.T) {
	var all []cluster.Node
	for _, id := range []cluster.NodeID{"n0", "n1"} {
		all = append(all, cluster.Node{ID: id, GPUType: "a", Capacity: cluster.Resources{GPUs: 2, CPUs: 16, Memory: 64}})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	p, err := multifactor.New(multifactor.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Now: start, Length: time.Minute, Cluster: c, Jobs: []*policy.Job{waits("j", 3, 0, time.Hour)}}
	plan, err := p.Plan(t.Context(), s)
	if err == nil {
		err = policy.Check(s, plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &plan.Jobs[0]
	want := cluster.Placement{{Node: "n0", Resources: cluster.Resources{GPUs: 2, CPUs: 16, Memory: 64}}, {Node: "n1", Resources: cluster.Resources{GPUs: 1, CPUs: 8, Memory: 32}}}
	if d.Allocation.CPUs != 24 || d.Allocation.Memory != 96 || !slices.Equal(d.Placement, want) {
		t.Errorf("granted %+v on %v, want three quarters of the cluster, on %v", d.Allocation, d.Placement, want)
	}
}
