package whatif_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/sim"
	"github.com/oxgang/oxgang/whatif"
)

// linear is a job's speed: so many samples per second and GPU.
type linear float64

func (l linear) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	return float64(l) * float64(a.GPUs)
}
func (linear) Efficiency(float64) float64 { return 1 }

// A row is a job of a scenario: what it asks for and, if on is a node, what it holds.
type row struct {
	id     job.ID
	gpus   int
	on     cluster.NodeID
	target float64
	change func(*job.Spec)
}

// scenario returns a snapshot of jobs on a cluster.
func scenario(t *testing.T, c *cluster.Cluster, rows ...row) *policy.Snapshot {
	t.Helper()
	s := &policy.Snapshot{Now: sim.Epoch, Round: 7, Length: time.Minute, Cluster: c}
	for i, r := range rows {
		spec := &job.Spec{ID: r.id, GPUs: r.gpus, MinGPUs: 1, Adaptivity: job.Rigid, Target: r.target, Batch: job.BatchLimits{Init: 1, Max: 1}, BatchSize: 1}
		if r.change != nil {
			r.change(spec)
		}
		j := &policy.Job{Spec: spec, Perf: linear(1), Limits: &spec.Batch}
		j.Phase, j.Submitted = job.Waiting, sim.Epoch.Add(time.Duration(i-100)*time.Second)
		if k, ok := c.Index(r.on); ok {
			j.Phase, j.FirstStarted = job.Running, j.Submitted
			j.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: r.gpus, GPUType: c.Nodes()[k].GPUType}
			j.Placement = cluster.Placement{{Node: r.on, Resources: cluster.Resources{GPUs: r.gpus}}}
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

// TestUnblock: the cheapest change of each kind, where all cheaper ones are of no use.
func TestUnblock(t *testing.T) {
	one, two := nodes(t, 4, "a100"), nodes(t, 4, "a100", "t4")
	only := func(s *job.Spec) { s.GPUTypes = []cluster.GPUType{"a100"} }
	busy := row{id: "a", gpus: 4, on: "a100-0"}
	for _, test := range []struct {
		name string
		snap *policy.Snapshot
		want string
	}{
		{"a free GPU", scenario(t, one, row{id: "x", gpus: 1}), "it gets (1, 1, a100) in the next round as things stand"},
		{"half of what it asks for", scenario(t, one, row{id: "a", gpus: 2, on: "a100-0"}, row{id: "x", gpus: 4}), "it would get (1, 2, a100) if it asked for 2 GPUs"},
		{"a quarter", scenario(t, one, row{id: "a", gpus: 3, on: "a100-0"}, row{id: "x", gpus: 4}), "it would get (1, 1, a100) if it asked for 1 GPU"},
		{"another type", scenario(t, two, busy, row{id: "x", gpus: 1, change: only}), "it would get (1, 1, t4) if it allowed GPUs of type t4"},
		{"one GPU more", scenario(t, one, busy, row{id: "x", gpus: 1}), "it would get (1, 1, a100) if the cluster had 1 more a100 GPU"},
		{"an end", scenario(t, nodes(t, 3, "a100"), row{id: "a", gpus: 3, on: "a100-0", target: 600}, row{id: "x", gpus: 3}), "it would get (1, 3, a100) if job a ended, which it should in 3m20s"},
		{"a queue ahead", scenario(t, one, busy, row{id: "b", gpus: 4}, row{id: "c", gpus: 4}, row{id: "x", gpus: 1}), "none of 5 changes to it, to the cluster and to other jobs would give it more GPUs now"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := whatif.Unblock(t.Context(), test.snap, "x", options("fifo"))
			if err != nil {
				t.Fatal(err)
			}
			if c.String() != test.want {
				t.Errorf("got %q, want %q", c, test.want)
			}
		})
	}
}

// TestUnblock_asks_for_the_soonest_end_first: whoever came first.
func TestUnblock_asks_for_the_soonest_end_first(t *testing.T) {
	snap := scenario(t, nodes(t, 2, "a100"),
		row{id: "later", gpus: 1, on: "a100-0", target: 4000}, row{id: "soon", gpus: 1, on: "a100-0", target: 1200}, row{id: "x", gpus: 1})
	var ends []string
	for _, c := range whatif.Changes(snap, 2) {
		if c.Kind == whatif.OneEnds {
			ends = append(ends, c.String())
		}
	}
	want := "it would get (none) if job soon ended, which it should in 20m0s|it would get (none) if job later ended, which it should in 1h6m40s"
	if got := strings.Join(ends, "|"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnblock_names_an_unknown_job(t *testing.T) {
	_, err := whatif.Unblock(t.Context(), scenario(t, nodes(t, 1, "a")), "x", options("fifo"))
	if err == nil || err.Error() != "whatif: job x: not in the snapshot" {
		t.Errorf("got %v, want it to name the job", err)
	}
}

// TestUnblock_changes_nothing: what is asked about stays as it is.
func TestUnblock_changes_nothing(t *testing.T) {
	snap := mixed(t, 12).until(t, "sia", 20*time.Minute)
	rows, specs := make([]policy.Job, len(snap.Jobs)), make([]job.Spec, len(snap.Jobs))
	for i, j := range snap.Jobs {
		rows[i], specs[i] = *j, *j.Spec
	}
	for _, j := range snap.Jobs {
		if _, err := whatif.Unblock(t.Context(), snap, j.ID, options("sia")); err != nil {
			t.Fatal(err)
		}
	}
	for i, j := range snap.Jobs {
		if j.Spec != rows[i].Spec || j.Allocation != rows[i].Allocation || j.MinGPUs != specs[i].MinGPUs || j.GPUs != specs[i].GPUs || len(j.GPUTypes) != len(specs[i].GPUTypes) {
			t.Errorf("job %s was changed", j.ID)
		}
	}
}

// panics is a policy with a bug seeded into it.
type panics struct{}

func (panics) Traits() policy.Traits { return policy.Traits{} }

func (panics) Plan(context.Context, *policy.Snapshot) (*policy.Plan, error) { panic("bug") }

// TestUnblock_survives_its_policy: one that panics, or whose plans break a rule, grants nothing.
func TestUnblock_survives_its_policy(t *testing.T) {
	snap := scenario(t, nodes(t, 1, "a100"), row{id: "x", gpus: 1})
	for _, bad := range []policy.Policy{panics{}, greedy{}} {
		o := options("fifo")
		o.Fresh = func() (policy.Policy, placement.Placer, error) {
			_, placer, err := fresh("fifo")()
			return bad, placer, err
		}
		if c, err := whatif.Unblock(t.Context(), snap, "x", o); err != nil || c.Kind != whatif.NothingHelps {
			t.Errorf("%T: got %v, %v, want that nothing helps", bad, c, err)
		}
	}
}

// greedy grants GPUs that there are not.
type greedy struct{}

func (greedy) Traits() policy.Traits { return policy.Traits{} }

func (greedy) Plan(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	d := policy.Decision{Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 9, GPUType: "a100"}}}
	return &policy.Plan{Jobs: slices.Repeat([]policy.Decision{d}, len(s.Jobs))}, nil
}
