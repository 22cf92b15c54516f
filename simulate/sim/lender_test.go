package sim_test

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
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// curve returns the shares in use in each interval of 5 minutes, and the last from then on.
func curve(shares ...float64) func(time.Duration) float64 {
	return func(at time.Duration) float64 { return shares[min(len(shares)-1, int(at/(5*time.Minute)))] }
}

// inference returns the world of an owned node, o, and ten that are lent, l-0 to l-9, of
// which the owner uses so many in each interval of 5 minutes, and the last of them from
// then on; its headroom is 0. Two jobs of 4 GPUs come at once and last 10 hours; the
// second, n, is non-preemptive.
func inference(t *testing.T, used []int, set func(*sim.Options)) *lessee {
	t.Helper()
	nodes := []cluster.Node{{ID: "o", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}}
	for i := range 10 {
		nodes = append(nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("l-%d", i)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Group: "l", Tenure: cluster.Loaned,
		})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	shares := make([]float64, len(used))
	for i, n := range used {
		shares[i] = float64(n) / 10
	}
	o := sim.DefaultOptions()
	o.Lender.Headroom, o.Lender.Busy = 0, curve(shares...)
	if set != nil {
		set(&o)
	}
	spec := job.Spec{ID: "j", GPUs: 4, Target: 10 * 3600}
	other := spec
	other.ID, other.NonPreemptive = "n", true
	w, err := sim.New(c, nil, []workload.Arrival{{Spec: spec}, {Spec: other}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return &lessee{t: t, w: w}
}

// on puts a job on a node.
func on(id job.ID, node cluster.NodeID) scheduler.Run {
	run := occupy(node)
	run.Job = id
	return run
}

func provision(n int) scheduler.Action { return scheduler.Provision{Group: "l", Nodes: n} }

func giveBack(ids ...cluster.NodeID) scheduler.Action { return scheduler.Return{Nodes: ids} }

func TestLender_lends_what_its_owner_does_not_use(t *testing.T) {
	l := inference(t, []int{7, 6, 9}, nil)
	l.until(0)
	l.must(provision(2))
	l.until(299)
	l.want("0: o l=0+3", "0: o l-0 l-1 l=2+1")
	l.until(300)
	l.must(provision(6 - 2))
	l.until(599)
	l.want("300: o l-0 l-1 l=2+2", "300: o l-0 l-1 l-2 l-3 l=4+0")
	l.until(600)
	l.must(giveBack("l-1", "l-3"))
	l.until(700)
	l.must(giveBack("l-0")) // and that is all
	l.until(1200)
	l.want("600: o l-0 l-1 l-2 l-3 l=4-3@900", "600: o l-0 l-2 l=2-1@900", "700: o l-2 l=1+0", "900: o l-2 l=1+0", "1200: o l-2 l=1+0")
}

// What is not back in time is taken: nodes without jobs first, then in order; a job loses
// all since its last checkpoint, one that is non-preemptive too.
func TestLender_takes_by_force_what_is_not_back(t *testing.T) {
	none := time.Duration(0)
	l := inference(t, []int{6, 7, 8, 9, 10}, func(o *sim.Options) { o.Restart = &none })
	l.until(0)
	l.must(provision(4))
	l.until(0)
	l.must(on("j", "l-1"), on("n", "l-0"))
	l.until(1800)
	l.want("0: o l=0+4", "0: o l-0 l-1 l-2 l-3 l=4+0",
		"300: o l-0 l-1 l-2 l-3 l=4-1@600",
		"600: o l-0 l-1 l-3 l=3-1@900",
		"900: o l-0 l-1 l=2-1@1200",
		"1200: n lost: the owner of l-0 took it back by force",
		"1200: o l-1 l=1-1@1500",
		"1500: j lost: the owner of l-1 took it back by force",
		"1500: o l=0+0", "1800: o l=0+0")
	if n := l.w.Seized(); n != 4 {
		t.Errorf("%d nodes were taken by force, want 4", n)
	}
	l.must(on("j", "o")) // from the start: it took no checkpoint
	l.until(1800 + 36000 - 1)
	l.log = nil
	l.until(1800 + 36000)
	if len(l.log) == 0 || !strings.Contains(l.log[0], "j done") {
		t.Errorf("told %q, want the end of j", l.log)
	}
}

// A job on two nodes loses both when one is taken, and the other, now empty, is next.
func TestLender_takes_what_it_vacates(t *testing.T) {
	l := inference(t, []int{7, 9}, nil)
	l.until(0)
	l.must(provision(3))
	wide := on("j", "l-0")
	wide.Allocation.Nodes, wide.Allocation.GPUs = 2, 8
	wide.Placement = append(wide.Placement, cluster.Share{Node: "l-2", Resources: cluster.Resources{GPUs: 4}})
	l.must(wide, on("n", "l-1"))
	l.until(600)
	if last := l.log[len(l.log)-1]; last != "600: o l-1 l=1+0" {
		t.Errorf("told %q, want l-1, on which n is, to stay", l.log)
	}
}

// A later review that needs less asks for less, and one that needs more asks for that much
// more by a later time; what is asked for twice is due once.
func TestLender_changes_its_mind(t *testing.T) {
	l := inference(t, []int{4, 8, 6, 9, 4}, func(o *sim.Options) { o.Lender.Grace = 12 * time.Minute })
	l.until(0)
	l.must(provision(6))
	l.until(1800)
	l.want("0: o l=0+6", "0: o l-0 l-1 l-2 l-3 l-4 l-5 l=6+0",
		"300: o l-0 l-1 l-2 l-3 l-4 l-5 l=6-4@1020",
		"600: o l-0 l-1 l-2 l-3 l-4 l-5 l=6-2@1020",
		"900: o l-0 l-1 l-2 l-3 l-4 l-5 l=6-5@1020",
		"1020: o l-2 l-3 l-4 l-5 l=4-3@1620", // 2 of what was asked for at 300
		"1200: o l-2 l-3 l-4 l-5 l=4+2",      // all else is forgiven
		"1500: o l-2 l-3 l-4 l-5 l=4+2", "1800: o l-2 l-3 l-4 l-5 l=4+2")
}

// Without grace there is no asking; a review at the time by which nodes are to be back is
// heard first.
func TestLender_grace(t *testing.T) {
	l := inference(t, []int{7, 9, 8}, func(o *sim.Options) { o.Lender.Grace = 0 })
	l.until(0)
	l.must(provision(3))
	l.until(600)
	l.want("0: o l=0+3", "0: o l-0 l-1 l-2 l=3+0", "300: o l-2 l=1+0", "600: o l-2 l=1+1")
	l = inference(t, []int{7, 10, 10, 8}, func(o *sim.Options) { o.Lender.Grace = 10 * time.Minute })
	l.until(0)
	l.must(provision(3))
	l.until(901)
	if last := l.log[len(l.log)-1]; last != "900: o l-1 l-2 l=2+0" {
		t.Errorf("told %q, want one node taken", l.log)
	}
}

// 2 % of 10 nodes, and any part of a node, keep one from being lent. What the owner uses is
// a share, whatever its source says.
func TestLender_rounds_in_its_own_favour(t *testing.T) {
	for _, c := range []struct {
		busy, headroom float64
		want           int
	}{
		{0, 0, 10},
		{0, 0.02, 9},
		{0.42, 0.02, 5},
		{0.9, 0, 1}, // 10 - 9, whatever floating point makes of it
		{0.7, 0.2, 1},
		{0.1 + 0.2, 0, 7}, // 0.30000000000000004
		{0.31, 0, 6},
		{0.99, 0.02, 0},
		{0, 1, 0},
		{-1, 0, 10},
		{math.Inf(-1), 0, 10},
		{7, 0, 0},
		{math.NaN(), 0, 0},
	} {
		l := inference(t, nil, func(o *sim.Options) {
			o.Lender.Headroom, o.Lender.Busy = c.headroom, func(time.Duration) float64 { return c.busy }
		})
		l.until(0)
		l.want(fmt.Sprintf("0: o l=0+%d", c.want))
	}
	l := inference(t, nil, func(o *sim.Options) { o.Lender.Busy = nil })
	l.until(300)
	l.want("0: o l=0+0", "300: o l=0+0")
}

// A seer knows what its owner will use, and is unsure of it.
type seer struct {
	of    func(time.Duration) float64
	sd    float64
	seen  []float64
	short int // steps it does not predict
}

func (f *seer) Observe(busy float64) { f.seen = append(f.seen, busy) }

func (f *seer) Predict(ahead int) (mean, sd []float64) {
	for i := range ahead - f.short {
		at := time.Duration(len(f.seen)+i) * 5 * time.Minute
		mean, sd = append(mean, f.of(at)), append(sd, f.sd)
	}
	return mean, sd
}

// An owner that foresees needing more asks an interval earlier, also for a standard
// deviation more than it expects; it never lends what it uses now.
func TestLender_asks_ahead_of_a_rise(t *testing.T) {
	f := &seer{of: curve(0.5, 0.5, 0.6, 0.5), sd: 0.1}
	l := inference(t, nil, func(o *sim.Options) {
		o.Lender.Busy, o.Lender.Forecast = f.of, func() sim.Forecaster { return f }
	})
	l.until(0)
	l.must(provision(4))
	l.until(900)
	l.want("0: o l=0+4", "0: o l-0 l-1 l-2 l-3 l=4+0", "300: o l-0 l-1 l-2 l-3 l=4-1@600", "600: o l-0 l-1 l-2 l-3 l=4+0", "900: o l-0 l-1 l-2 l-3 l=4+0")
	if diff := cmp.Diff([]float64{0.5, 0.5, 0.6, 0.5}, f.seen); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}

// loans returns what is told at the first review.
func loans(t *testing.T, o sim.Lender) cluster.Loan {
	t.Helper()
	l := inference(t, nil, func(all *sim.Options) { all.Lender = o })
	ev, err := l.w.Next(t.Context(), sim.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	return ev.(scheduler.NodesChanged).Loans[0]
}

// What an owner expects to lend is the least of each hour of a day, of the mean alone; what
// it uses itself, it says too.
func TestLender_says_what_it_expects(t *testing.T) {
	byHour := func(at time.Duration) float64 {
		if at == 90*time.Minute { // in the second hour, for one interval
			return 0.95
		}
		return 0.1 * float64(at/(6*time.Hour))
	}
	f := &seer{of: byHour, sd: 0.5}
	o := sim.DefaultLender()
	o.Headroom, o.Busy, o.Forecast = 0, byHour, func() sim.Forecaster { return f }
	want := slices.Repeat([]int{10}, 5)
	want[1] = 0
	for i := 1; i < 4; i++ {
		want = append(want, slices.Repeat([]int{10 - i}, 6)...)
	}
	want = append(want, 6)
	got := loans(t, o)
	if diff := cmp.Diff(want, got.Expected); diff != "" || got.Every != time.Hour || got.Load != 0 {
		t.Errorf("every %v, with a load of %v, expected (-want +got):\n%s", got.Every, got.Load, diff)
	}
	if got.Spare != 5 {
		t.Errorf("%d nodes are spare, want 5: the standard deviation is not lent", got.Spare)
	}
	f.short = 1
	f.seen = nil
	if got := loans(t, o); got.Expected != nil || got.Every != 0 || got.Spare != 10 {
		t.Errorf("a forecaster that cannot tell: got %+v, want nothing expected and 10 spare", got)
	}
	f.short = 0
	f.seen = nil
	o.Interval = 5 * time.Hour
	if got := loans(t, o); len(got.Expected) != 4 || got.Every != 5*time.Hour {
		t.Errorf("with intervals of 5 h: got %v every %v, want 4", got.Expected, got.Every)
	}
	// Of intervals of 40 min the first ends in the first hour, the next two in the second.
	f.of, f.seen = curve(0, 0.1, 0.2, 0.5, 0), nil
	o.Interval, o.Busy = 40*time.Minute, curve(0)
	if got := loans(t, o); !slices.Equal(got.Expected[:4], []int{9, 5, 10, 10}) {
		t.Errorf("with intervals of 40 min: got %v, want 9, 5, 10, 10", got.Expected)
	}
}

// A node in maintenance is not lent; one that is lent goes back when too many are, since
// nobody can use it, and is not counted as taken by force.
func TestLender_maintenance(t *testing.T) {
	l := inference(t, []int{8, 8, 9, 0}, func(o *sim.Options) {
		o.Faults.Maintenance = []sim.Window{{Nodes: []cluster.NodeID{"l-0", "l-2", "l-3", "l-4", "l-5"}, From: 100 * time.Second, To: 1000 * time.Second}}
	})
	l.until(0)
	l.must(provision(2))
	l.until(1100)
	l.want("0: o l=0+2", "0: o l-0 l-1 l=2+0", "100: o l-1 l=2+0", "300: o l-1 l=2+0", "600: o l-1 l=1+0",
		"900: o l-1 l=1+4", "1000: o l-1 l=1+9")
	if n := l.w.Seized(); n != 0 {
		t.Errorf("%d nodes were taken by force, want none", n)
	}
}

// Nodes of the owner do not fail; those on loan do, and are lent still.
func TestLender_nodes_fail_while_they_are_lent(t *testing.T) {
	l := inference(t, []int{0}, func(o *sim.Options) { o.Faults = sim.Faults{NodeMTBF: time.Hour, Repair: 10 * time.Minute} })
	l.until(36000)
	for _, line := range l.log {
		if !strings.HasSuffix(line, " o l=0+10") && !strings.HasSuffix(line, ": l=0+10") {
			t.Errorf("told %q, want news of o alone", line)
		}
	}
	l.must(provision(10))
	l.until(36000)
	l.log = nil
	l.until(72000)
	broken := 0
	for _, line := range l.log {
		if !strings.HasSuffix(line, " l=10+0") {
			t.Errorf("told %q, want ten nodes lent", line)
		}
		if strings.Count(line, "l-") < 10 {
			broken++
		}
	}
	if broken == 0 || broken == len(l.log) {
		t.Errorf("some node was broken in %d of %d news, want some", broken, len(l.log))
	}
}

// News of what is lent come with the same cluster until its nodes change.
func TestLender_keeps_the_cluster(t *testing.T) {
	l := inference(t, []int{5}, nil)
	told := func(seconds int) *cluster.Cluster {
		t.Helper()
		var c *cluster.Cluster
		for {
			ev, err := l.w.Next(t.Context(), sim.Epoch.Add(time.Duration(seconds)*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if ev == nil {
				return c
			}
			if n, ok := ev.(scheduler.NodesChanged); ok {
				c = n.Cluster
			}
		}
	}
	first := told(0)
	if told(300) != first {
		t.Error("another cluster is told with the same nodes")
	}
	l.must(provision(1), giveBack("l-0"), provision(1))
	if told(300) == first {
		t.Error("the same cluster is told with other nodes")
	}
}

func TestLender_refuses_what_cannot_be(t *testing.T) {
	for name, c := range map[string]struct {
		act  scheduler.Action
		want string
	}{
		"an unknown group":           {scheduler.Provision{Group: "b", Nodes: 1}, "group b: cannot be rented"},
		"more than is spare":         {provision(4), "group l: 4 nodes wanted on loan, want 0 to 3"},
		"less than none":             {provision(-1), "group l: -1 nodes wanted on loan, want 0 to 3"},
		"a node that is owned":       {giveBack("o"), "node o: returned, want a node that is rented"},
		"a node that is not lent":    {giveBack("l-7"), "node l-7: returned, want a node on loan"},
		"a node twice":               {giveBack("l-1", "l-1"), "node l-1: returned, want a node on loan"},
		"a node with a job on it":    {giveBack("l-0"), "node l-0: returned, want a node without jobs: job j is on it"},
		"a node that does not exist": {giveBack("l-1", "x"), "node x: returned"},
	} {
		t.Run(name, func(t *testing.T) {
			l := inference(t, []int{7}, nil)
			l.until(0)
			l.must(provision(2), on("j", "l-0"))
			if err := l.do(c.act); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

// A Return may have nodes of both kinds.
func TestReturn_of_rented_and_lent_nodes(t *testing.T) {
	node := func(id cluster.NodeID, tenure cluster.Tenure, g cluster.Group) cluster.Node {
		return cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Tenure: tenure, Group: g}
	}
	c, err := cluster.New([]cluster.Node{node("o", cluster.Owned, ""), node("l", cluster.Loaned, "l"), node("r", cluster.Rented, "r")})
	if err != nil {
		t.Fatal(err)
	}
	o := sim.DefaultOptions()
	o.Lender.Headroom, o.Lender.Busy, o.Provider.Start = 0, curve(0), 0
	w, err := sim.New(c, nil, []workload.Arrival{{Spec: job.Spec{ID: "j", GPUs: 4, Target: 3600}}}, o)
	if err != nil {
		t.Fatal(err)
	}
	l := &lessee{t: t, w: w}
	l.until(0)
	l.must(provision(1), scheduler.Provision{Group: "r", Nodes: 1})
	l.until(10)
	l.must(giveBack("l", "r"))
	l.until(10)
	l.want("0: o r=0+0-0 l=0+1", "0: o l r=0+0-0 l=1+0", "0: o l r=0+1-0 l=1+0", "0: o l r r=1+0-0 l=1+0",
		"10: o l r=0+0-1 l=1+0", "10: o r=0+0-1 l=0+1")
}

func TestLender_options(t *testing.T) {
	o := sim.DefaultOptions()
	o.Lender = sim.Lender{Interval: time.Millisecond, Headroom: 1.5, Grace: -1}
	err := o.Validate()
	for _, want := range []string{"lender: interval 1ms, want at least 1s", "lender: headroom 1.5, want a share of 0 to 1", "lender: grace -1ns, want at least 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}
