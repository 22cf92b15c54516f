package rules

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/synergy"
)

// A fed job takes in as much as its input pipeline delivers, and at most rate
// samples per second and GPU.
type fed struct {
	rate  float64
	input *perf.Sensitivity
}

// Throughput implements perf.Model.
func (f fed) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	gpus := float64(a.GPUs)
	if a.CPUs == 0 {
		return gpus * f.rate
	}
	return gpus * math.Min(f.rate, f.input.Rate(a.CPUs/gpus, a.Memory/int64(a.GPUs)))
}

// Efficiency implements perf.Model.
func (fed) Efficiency(float64) float64 { return 1 }

// needing returns a job of so many GPUs whose speed doubles from 3 CPUs a GPU, its
// share, to cores; with 1 core it does not hang on CPUs.
func needing(id job.ID, gpus int, cores float64) *policy.Job {
	s := &perf.Sensitivity{CPUs: []perf.CPURate{{CPUs: 3, Rate: 5}, {CPUs: cores, Rate: 10}}, Input: job.Input{Working: 62.5e9}}
	if cores == 1 {
		s = &perf.Sensitivity{CPUs: []perf.CPURate{{CPUs: 1, Rate: 10}}, Input: job.Input{Working: 20e9}}
	}
	limits := job.BatchLimits{Init: 1, Max: 1, LocalMin: 1}
	return &policy.Job{
		Spec:   &job.Spec{ID: id, GPUs: gpus, Target: 1e6, Adaptivity: job.Rigid, Batch: limits},
		Status: job.Status{Phase: job.Waiting}, Perf: fed{10, s}, Sensitivity: s,
	}
}

// servers returns a snapshot of n nodes of 8 GPUs, 24 CPUs and 500 GB.
func servers(n int, jobs ...*policy.Job) *policy.Snapshot {
	nodes := make([]cluster.Node, n)
	for i := range nodes {
		nodes[i] = cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500e9}}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		panic(err)
	}
	return &policy.Snapshot{Now: time.Unix(1e6, 0), Length: 5 * time.Minute, Cluster: c, Jobs: jobs}
}

// planned returns what the public rules decide, written as "CPUs@node" per job.
func planned(t *testing.T, order string, m synergy.Mechanism, s *policy.Snapshot) []string {
	t.Helper()
	o := synergy.DefaultOptions()
	o.Order, o.Mechanism, o.Rules = order, m, synergy.PublicCode
	plan, err := NewSynergy(o).Plan(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.Check(s, plan); err != nil {
		t.Fatal(err)
	}
	got := make([]string, len(plan.Jobs))
	for i, d := range plan.Jobs {
		for _, share := range d.Placement {
			got[i] += fmt.Sprintf("%g@%s ", share.CPUs, share.Node)
		}
		got[i] = strings.TrimSpace(got[i])
		if d.Why.Kind == policy.Unexplained {
			t.Errorf("job %s: no reason", s.Jobs[i].ID)
		}
	}
	return got
}

func TestPublic(t *testing.T) {
	long := func(j *policy.Job) *policy.Job { j.Target *= 10; return j }
	cut := needing("a", 1, 12) // ran with its share: it looks twice as long as b
	cut.Phase, cut.Allocation = job.Running, cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}, CPUs: 3, Memory: 62.5e9}
	cut.Placement = cluster.Placement{{Node: "n0", Resources: cluster.Resources{GPUs: 1, CPUs: 3, Memory: 62.5e9}}}
	still := needing("a", 8, 1)
	still.Perf = fed{0, still.Sensitivity}
	for _, tc := range []struct {
		name      string
		order     string
		mechanism synergy.Mechanism
		nodes     int
		jobs      []*policy.Job
		want      []string
	}{
		{"the share, first fit", "fifo", synergy.Proportional, 2, []*policy.Job{needing("a", 4, 12), needing("b", 8, 6), needing("c", 4, 12)}, []string{"12@n0", "12@n0 12@n1", "12@n1"}},
		{"greedy skips", "fifo", synergy.Greedy, 1, []*policy.Job{needing("a", 1, 12), needing("b", 1, 12), needing("c", 1, 6)}, []string{"12@n0", "12@n0", ""}},
		{"an insensitive job has its demand", "fifo", synergy.Greedy, 1, []*policy.Job{needing("a", 1, 12), needing("b", 2, 1), needing("c", 1, 9)}, []string{"12@n0", "2@n0", "9@n0"}},
		{"tune falls back to the share", "fifo", synergy.Tune, 1, []*policy.Job{needing("a", 1, 12), needing("b", 1, 9), needing("c", 1, 6)}, []string{"12@n0", "9@n0", "3@n0"}},
		{"tune cuts the largest peer", "fifo", synergy.Tune, 1, []*policy.Job{needing("a", 1, 9), needing("b", 1, 12), needing("c", 1, 3.5), needing("d", 1, 1)}, []string{"9@n0", "3@n0", "3@n0", "1@n0"}},
		{"tune on the fullest node", "fifo", synergy.Tune, 2, []*policy.Job{needing("a", 1, 24), needing("b", 2, 12), needing("c", 1, 1)}, []string{"24@n0", "6@n1", "1@n1"}},
		{"a demand above a node is cut to it", "fifo", synergy.Greedy, 1, []*policy.Job{needing("a", 4, 12)}, []string{"24@n0"}},
		{"more GPUs than a node has", "fifo", synergy.Tune, 2, []*policy.Job{needing("a", 16, 12)}, []string{"24@n0 24@n1"}},
		{"back-filling", "fifo", synergy.Proportional, 1, []*policy.Job{needing("a", 6, 12), needing("b", 4, 12), needing("c", 2, 12)}, []string{"18@n0", "", "6@n0"}},
		{"shortest first", "srtf", synergy.Proportional, 1, []*policy.Job{long(needing("a", 8, 12)), needing("b", 8, 12)}, []string{"", "24@n0"}},
		{"a job that was cut looks long", "srtf", synergy.Greedy, 1, []*policy.Job{cut, needing("b", 1, 24)}, []string{"", "24@n0"}},
		{"one that stands still comes last", "ftf", synergy.Proportional, 1, []*policy.Job{still, needing("b", 8, 12)}, []string{"", "24@n0"}},
		{"smallest dominant share first", "drf", synergy.Greedy, 1, []*policy.Job{needing("a", 1, 24), needing("b", 2, 1)}, []string{"", "2@n0"}},
		{"smallest volume first", "tetris", synergy.Greedy, 1, []*policy.Job{needing("a", 1, 24), long(needing("b", 1, 12)), needing("c", 1, 12)}, []string{"", "12@n0", "12@n0"}},
		{"least attained service, largest first", "las", synergy.Tune, 1, []*policy.Job{needing("a", 2, 1), needing("b", 6, 1)}, []string{"2@n0", "6@n0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, planned(t, tc.order, tc.mechanism, servers(tc.nodes, tc.jobs...))); diff != "" {
				t.Errorf("CPUs by node (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPublic_refuses_what_the_simulator_has_not(t *testing.T) {
	reserved := needing("r", 1, 12)
	reserved.Reservation = cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}
	plain, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		s    *policy.Snapshot
		want string
	}{
		{servers(1, reserved), "job r: non-preemptive or reserved"},
		{&policy.Snapshot{Cluster: plain}, "want one, on nodes with known CPUs"},
	} {
		if _, err := NewSynergy(synergy.DefaultOptions()).Plan(context.Background(), tc.s); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got error %v, want %q", err, tc.want)
		}
	}
}

// TestPublic_keeps_the_rules: Check passes, and under synergy.Tune nobody is left out whose
// GPUs are free.
func TestPublic_keeps_the_rules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []*policy.Job
		for i := range rapid.IntRange(1, 30).Draw(rt, "jobs") {
			gpus := rapid.SampledFrom([]int{1, 1, 1, 2, 4, 8, 16, 3}).Draw(rt, "GPUs")
			jobs = append(jobs, needing(job.ID(fmt.Sprintf("j%02d", i)), gpus, rapid.SampledFrom([]float64{1, 4, 6, 9, 12, 24}).Draw(rt, "cores")))
		}
		s := servers(rapid.IntRange(2, 5).Draw(rt, "nodes"), jobs...)
		o := synergy.DefaultOptions()
		o.Order = rapid.SampledFrom(synergy.Orders()).Draw(rt, "order")
		o.Mechanism = rapid.SampledFrom([]synergy.Mechanism{synergy.Proportional, synergy.Greedy, synergy.Tune}).Draw(rt, "mechanism")
		plan, err := NewSynergy(o).Plan(context.Background(), s)
		if err != nil {
			rt.Fatal(err)
		}
		if err := policy.Check(s, plan); err != nil {
			rt.Fatal(err)
		}
		free := s.Cluster.GPUs()
		for _, d := range plan.Jobs {
			free -= d.Allocation.GPUs
		}
		for i, d := range plan.Jobs {
			if o.Mechanism != synergy.Greedy && d.Allocation.IsZero() && jobs[i].GPUs <= free {
				rt.Errorf("%s with %d GPUs waits, though %d are free", jobs[i].ID, jobs[i].GPUs, free)
			}
		}
	})
}

func (fed) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
