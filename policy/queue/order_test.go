package queue_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
	"github.com/oxgang/oxgang/policy/queue"
)

// counted is a cluster of two nodes of 8 GPUs, 24 cores and 480 GB.
func counted(t testing.TB) *cluster.Cluster {
	t.Helper()
	node := func(id cluster.NodeID) cluster.Node {
		return cluster.Node{ID: id, GPUType: "v100", Capacity: cluster.Resources{GPUs: 8, CPUs: 24, Memory: 480e9}}
	}
	c, err := cluster.New([]cluster.Node{node("a"), node("b")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fed returns j with a model of rate samples per second and GPU, which needs so
// many cores for each GPU to be as fast, in proportion, and 60 GB.
func fed(j *policy.Job, rate, cpus float64) *policy.Job {
	in := &perf.Sensitivity{CPUs: []perf.CPURate{{CPUs: cpus, Rate: rate}}, Input: job.Input{Working: 60e9}}
	j.Perf, j.Sensitivity, j.Target = pipeline{rate, in}, in, 3600*rate*float64(j.GPUs)
	return j
}

// A pipeline is a model that is limited by its input.
type pipeline struct {
	rate  float64
	input *perf.Sensitivity
}

func (p pipeline) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	if a.CPUs == 0 {
		return float64(a.GPUs) * p.rate
	}
	return float64(a.GPUs) * min(p.rate, p.input.Rate(a.CPUs/float64(a.GPUs), a.Memory/int64(a.GPUs)))
}
func (p pipeline) Efficiency(float64) float64 { return 1 }

func keys(t *testing.T, name string, s *policy.Snapshot) []float64 {
	t.Helper()
	order, err := queue.FindOrder(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []float64
	for _, j := range s.Jobs {
		all = append(all, math.Round(order(s, j)*1e6)/1e6)
	}
	return all
}

func TestDemand_is_the_fastest_cell(t *testing.T) {
	s := &policy.Snapshot{Cluster: counted(t)}
	for want, j := range map[cluster.Resources]*policy.Job{
		{GPUs: 2, CPUs: 12, Memory: 120e9}: fed(gang("a", 2), 10, 6),
		{GPUs: 2, CPUs: 2, Memory: 120e9}:  fed(gang("b", 2), 10, 1),
		{GPUs: 2, CPUs: 6, Memory: 120e9}:  gang("of which nothing is known", 2),
		{GPUs: 17}:                         fed(gang("impossible", 17), 10, 6),
	} {
		if got := queue.Demand(s, j); got != want {
			t.Errorf("%s: got %+v, want %+v", j.ID, got, want)
		}
	}
}

// A job that needs more memory than its share to run at all has a cell all the
// same: the share, at rate 0.
func TestCells_begin_within_the_share(t *testing.T) {
	c := counted(t)
	j := fed(gang("a", 1), 10, 6)
	j.Sensitivity.Working = 100e9
	cells := grant.Cells(j, &c.Types()[0], cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}, 1)
	want := []perf.Cell{{CPUs: 3, Memory: 60e9}, {CPUs: 6, Memory: 100e9, Rate: 10}}
	if diff := cmp.Diff(want, cells); diff != "" {
		t.Error(diff)
	}
}

func TestDominantShare(t *testing.T) {
	s := &policy.Snapshot{Now: epoch, Cluster: counted(t), Jobs: []*policy.Job{
		fed(gang("cpus", 1), 10, 12),  // 12 of 48 cores
		fed(gang("gpus", 4), 10, 1),   // 4 of 16 GPUs, 240 of 960 GB
		fed(gang("modest", 1), 10, 1), // 1 of 16
	}}
	if diff := cmp.Diff([]float64{0.25, 0.25, 0.0625}, keys(t, "drf", s)); diff != "" {
		t.Error(diff)
	}
	// Users fill up evenly: the second job of a user counts with the first: 16 cores.
	for i, user := range []string{"ann", "ann", "bob"} {
		s.Jobs[i].User = user
	}
	if diff := cmp.Diff([]float64{0.25, 0.333333, 0.0625}, keys(t, "drf", s)); diff != "" {
		t.Error(diff)
	}
}

func TestDominantShare_begins_anew_with_each_snapshot(t *testing.T) {
	order := queue.DominantShare()
	j := fed(gang("a", 4), 10, 1)
	j.User = "ann"
	for round := range 3 {
		s := &policy.Snapshot{Now: epoch, Round: round, Cluster: counted(t), Jobs: []*policy.Job{j}}
		if got := order(s, j); got != 0.25 {
			t.Errorf("round %d: share %v, want 0.25", round, got)
		}
	}
}

func TestVolume_is_demand_times_time(t *testing.T) {
	s := &policy.Snapshot{Now: epoch, Cluster: counted(t), Jobs: []*policy.Job{
		fed(gang("short", 1), 10, 3), fed(gang("hungry", 1), 10, 6), gang("of which nothing is known, and that has not run", 1),
	}}
	// The hungry one runs at half its speed with its share, for 2 h.
	want := []float64{3600 * 3.0 / 16, 7200 * (1.0/16 + 6.0/48 + 1.0/16), 0}
	if diff := cmp.Diff(want, keys(t, "tetris", s)); diff != "" {
		t.Error(diff)
	}
}

func TestUnfairness(t *testing.T) {
	s := &policy.Snapshot{Now: epoch.Add(time.Hour), Cluster: counted(t), Jobs: []*policy.Job{
		fed(gang("waited as long as it takes", 1), 10, 3),
		fed(gang("half done", 1), 10, 3),
		fed(gang("more than its share of 4 GPUs", 8), 10, 3),
		gang("endless", 8),
	}}
	s.Jobs[1].Progress = s.Jobs[1].Target / 2
	// (1 h + 1 h) / 1 h; (1 h + 0.5 h) / 1 h; (1 h + 1 h) / 2 h; 1 / 2 turns.
	want := []float64{-2, -1.5, -1, -0.5}
	if diff := cmp.Diff(want, keys(t, "ftf", s)); diff != "" {
		t.Error(diff)
	}
	s.Jobs[1].Progress = s.Jobs[1].Target
	if got := keys(t, "ftf", s)[1]; !math.IsInf(got, -1) {
		t.Errorf("a job with nothing left: %v, want that it comes first", got)
	}
}

func TestFindOrder(t *testing.T) {
	if _, err := queue.FindOrder("lifo"); err == nil || !strings.Contains(err.Error(), "want one of fifo, srtf, las, ftf, drf, tetris") {
		t.Errorf("error %v, want one that lists the orders", err)
	}
	if order, err := queue.FindOrder("fifo"); order != nil || err != nil {
		t.Errorf("got an order or error %v, want none: by submission", err)
	}
}

// A gate sees all grants, names CPUs and memory, and refuses what is in line.
func TestGate(t *testing.T) {
	pinned := running(gang("a", 2), 1, "v100")
	pinned.NonPreemptive, pinned.Allocation.CPUs = true, 5
	reserved := gang("b", 4)
	reserved.Reservation = cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}
	var seen []string
	o := queue.Options{Backfill: true, Gate: func(s *policy.Snapshot, i int, a *cluster.Allocation) bool {
		seen = append(seen, fmt.Sprint(s.Jobs[i].ID, " ", a.CPUs))
		if s.Jobs[i].ID == "d" {
			a.CPUs = 1
		}
		return s.Jobs[i].ID == "d"
	}}
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: counted(t), Jobs: []*policy.Job{pinned, reserved, gang("c", 2), gang("d", 2)}}
	plan, err := queue.New(o).Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a 5", "b 12", "c 6", "d 6"}; !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
	var lines []string
	for i := range plan.Jobs {
		lines = append(lines, fmt.Sprintf("%v %g %v", plan.Jobs[i].Allocation.Configuration, plan.Jobs[i].Allocation.CPUs, plan.Jobs[i].Why.Kind))
	}
	want := []string{"(1, 2, v100) 5 non-preemptive", "(1, 4, v100) 12 reserved", "(none) 0 waiting: no CPUs or memory", "(1, 2, v100) 1 started"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// What a placer lent a running job beyond its share is not its own: with new jobs
// at their shares more would be granted than there is.
func TestKeptGPUs_keep_their_share_of_CPUs(t *testing.T) {
	j := running(gang("a", 8), 1, "v100")
	j.Allocation.CPUs, j.Allocation.Memory = 30, 500e9
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: counted(t), Jobs: []*policy.Job{j, gang("b", 8)}}
	plan, err := queue.New(queue.FIFO()).Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.Check(s, plan); err != nil {
		t.Error(err)
	}
	if got := plan.Jobs[0].Allocation; got.CPUs != 24 || got.Memory != 480e9 {
		t.Errorf("got %+v, want the share of 8 GPUs", got)
	}
}

func (pipeline) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
