package boa_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/boa"
)

// §5.2, "Job Allocation": each job has the width of its class and epoch, as soon as its
// nodes are there. §4: no job queues.
func TestFixedWidth(t *testing.T) {
	f := newRentedCluster(t, unlimited(t), 10, stats("wide", 8), stats("narrow", 2, 1))
	f.submit("w", "wide")
	f.submit("n", "narrow")
	f.submit("m", "narrow")
	first := f.play()
	if got := first.Capacity["t4-4"]; got != 3 {
		t.Fatalf("%d nodes wanted for widths 8, 2 and 2, want 3", got)
	}
	for i := range first.Jobs {
		if why := first.Jobs[i].Why; why.Kind != policy.WaitNodes || why.Config.IsZero() {
			t.Errorf("job %d: %v, want to wait for nodes, with what it is to have", i, why)
		}
	}
	f.play()
	plan := f.play()
	for id, want := range map[job.ID]int{"w": 8, "n": 2, "m": 2} {
		if got := f.of(plan, id).Allocation.GPUs; got != want {
			t.Errorf("job %s: %d GPUs, want %d", id, got, want)
		}
	}
}

// §5.2: "keep the placement for jobs that are already running on the correct number of
// GPUs", whoever comes and goes.
func TestPlacementsAreKept(t *testing.T) {
	f := newRentedCluster(t, unlimited(t), 20, stats("a", 3), stats("b", 8))
	for i := range 40 {
		if i < 8 {
			f.submit(job.ID(fmt.Sprintf("j%d", i)), []job.Class{"a", "b"}[i%2])
		}
		if i > 12 && i%4 == 0 && i < 32 {
			f.end(f.jobs[0].ID)
		}
		plan := f.play()
		for k, d := range plan.Jobs {
			if d.Allocation.IsZero() && i > 12 {
				t.Errorf("round %d: job %d has nothing: %v", i, k, d.Why)
			}
		}
	}
	for id, n := range f.moves {
		if n != 1 {
			t.Errorf("job %s: %d starts, want 1", id, n)
		}
	}
	if len(f.jobs) != 4 {
		t.Fatalf("%d jobs left, want 4", len(f.jobs))
	}
}

// A job that is to grow waits on what it has until all the rest is there, and moves once.
// When it shrinks, it stays on a node that it is on.
func TestWidthsChangeOnce(t *testing.T) {
	f := newRentedCluster(t, unlimited(t), 20, stats("a", 2, 12, 4))
	f.submit("j", "a")
	for range 4 {
		f.play()
	}
	f.change("j", func(j *policy.Job) { j.Epoch, j.Progress = 1, 86400 })
	for range 5 {
		if d := f.of(f.play(), "j"); d.Allocation.GPUs != 2 && d.Allocation.GPUs != 12 {
			t.Errorf("%d GPUs, want 2 or 12", d.Allocation.GPUs)
		}
	}
	held := f.jobs[0].Placement
	f.change("j", func(j *policy.Job) { j.Epoch, j.Progress = 2, 2*86400 })
	plan := f.play()
	d := f.of(plan, "j")
	if d.Allocation.GPUs != 4 || len(d.Placement) != 1 || plan.Capacity["t4-4"] != 1 {
		t.Errorf("%d GPUs on %v, %d nodes wanted; want 4 on one of %v", d.Allocation.GPUs, d.Placement, plan.Capacity["t4-4"], held)
	}
	if f.moves["j"] != 3 {
		t.Errorf("%d starts and moves, want 3", f.moves["j"])
	}
}

// §5.2, "Cluster Sizing": nodes without jobs go back, and jobs are put where others are, so
// that there are such nodes.
func TestNodesEmptyOut(t *testing.T) {
	f := newRentedCluster(t, unlimited(t), 20, stats("a", 3), stats("b", 1))
	for i := range 3 {
		f.submit(job.ID(fmt.Sprintf("a%d", i)), "a")
	}
	f.play()
	f.play()
	for i := range 3 {
		f.submit(job.ID(fmt.Sprintf("b%d", i)), "b")
	}
	if plan := f.play(); plan.Capacity["t4-4"] != 3 {
		t.Errorf("%d nodes, want 3: each 1 fits beside a 3", plan.Capacity["t4-4"])
	}
	f.end("a1")
	f.end("b0")
	f.end("b1")
	f.end("b2")
	if plan := f.play(); plan.Capacity["t4-4"] != 2 {
		t.Errorf("%d nodes, want 2", plan.Capacity["t4-4"])
	}
	f.end("a0")
	f.end("a2")
	if plan := f.play(); plan.Capacity["t4-4"] != 0 {
		t.Errorf("%d nodes of a cluster without jobs, want 0", plan.Capacity["t4-4"])
	}
}

// At the most nodes there may be, those that are done soonest come first.
func TestShortestFirstWhereNodesEnd(t *testing.T) {
	long, short := stats("long", 4), stats("short", 4)
	short.Sizes = []float64{3600}
	f := newRentedCluster(t, unlimited(t), 1, long, short)
	f.submit("l", "long")
	f.submit("s", "short")
	f.play()
	f.play()
	plan := f.play()
	if f.of(plan, "s").Allocation.GPUs != 4 || f.of(plan, "l").Why.Kind != policy.WaitNoCapacity {
		t.Errorf("short: %v, long: %v; want the short one to run", f.of(plan, "s").Why, f.of(plan, "l").Why)
	}
	f.end("s")
	if d := f.of(f.play(), "l"); d.Allocation.GPUs != 4 {
		t.Errorf("long: %v, want it to run", d.Why)
	}
}

// A job whose class nobody knows runs by its own model, and one without a model on as few
// GPUs as it can.
func TestUnknownClasses(t *testing.T) {
	f := newRentedCluster(t, unlimited(t), 10, stats("a", 4))
	f.submit("x", "never seen")
	f.submit("y", "")
	f.play()
	f.play()
	for i, d := range f.play().Jobs {
		if d.Allocation.GPUs < 1 {
			t.Errorf("job %d: %v, want it to run", i, d.Why)
		}
	}
}

// Where two tables are mixed, a share of each class' arrivals goes by the faster one:
// opt/convex has the counter-example to one width, BOA §4.3.
func TestTwoWidthsForOneClass(t *testing.T) {
	speeds := []float64{1, 1.6, 2, 2.2}
	c := &perf.ClassStats{Class: "a", Rate: 1e-3, Restart: 20 * time.Second, Sizes: []float64{100}, Speeds: perf.EpochSpeed(func(_ int, at cluster.Configuration) float64 {
		if at.GPUs > 4 {
			return 0
		}
		return speeds[at.GPUs-1]
	})}
	o := boa.DefaultOptions()
	o.Budget, o.Horizon = 0.25, 0
	p, err := boa.New(o)
	if err != nil {
		t.Fatal(err)
	}
	f := newRentedCluster(t, p, 1000, c)
	for i := range 200 {
		f.submit(job.ID(fmt.Sprintf("j%03d", i)), "a")
	}
	f.play()
	f.play()
	counts := map[int]int{}
	for _, d := range f.play().Jobs {
		counts[d.Allocation.GPUs]++
	}
	problem, err := boa.NewProblem(f.classes, f.snapshot().Cluster.Offers(), 64)
	if err != nil {
		t.Fatal(err)
	}
	problem.ByNode(0.5) // no node was seen yet that jobs share
	table, err := problem.Table(o.Budget, boa.Mixture)
	if err != nil {
		t.Fatal(err)
	}
	slow, fast := table.Cheap.Widths[0][0].Width, table.Fast.Widths[0][0].Width
	if share := float64(counts[fast]) / 200; slow == fast || math.Abs(share-table.Share) > 0.01 || counts[slow]+counts[fast] != 200 {
		t.Errorf("jobs by GPUs: %v; want %.1f %% on %d, the others on %d", counts, 100*table.Share, fast, slow)
	}
}
