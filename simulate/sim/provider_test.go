package sim_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A lessee drives a world with rented nodes by hand, and logs what it is told.
type lessee struct {
	t   *testing.T
	w   *sim.World
	log []string
}

// lets returns the world of an owned node, o, and rented ones of two groups: a-0 to
// a-2, and s-0, a spot node that is taken back 1000 times an hour. A job of 4 GPUs
// comes at once and lasts 10 hours.
func lets(t *testing.T, set func(*sim.Options)) *lessee {
	t.Helper()
	node := func(id cluster.NodeID, g cluster.Group, often float64) cluster.Node {
		return cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Group: g, Tenure: cluster.Rented, Interruptions: often}
	}
	owned := node("o", "", 0)
	owned.Tenure = cluster.Owned
	c, err := cluster.New([]cluster.Node{owned, node("a-0", "a", 0), node("s-0", "s", 1000), node("a-1", "a", 0), node("a-2", "a", 0)})
	if err != nil {
		t.Fatal(err)
	}
	o := sim.DefaultOptions()
	if set != nil {
		set(&o)
	}
	w, err := sim.New(c, nil, []workload.Arrival{{Spec: job.Spec{ID: "j", GPUs: 4, Target: 10 * 3600}}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return &lessee{t: t, w: w}
}

// until lets time pass to so many seconds since the start.
func (l *lessee) until(seconds float64) {
	l.t.Helper()
	deadline := sim.Epoch.Add(time.Duration(seconds * float64(time.Second)))
	for {
		ev, err := l.w.Next(l.t.Context(), deadline)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			l.t.Fatal(err)
		}
		at := l.w.Now().Sub(sim.Epoch).Seconds()
		switch ev := ev.(type) {
		case nil:
			return
		case scheduler.NodesChanged:
			l.log = append(l.log, fmt.Sprintf("%g: %s", at, books(ev)))
		case scheduler.Exited:
			l.log = append(l.log, fmt.Sprintf("%g: %s %v: %s", at, ev.Job, ev.Outcome, ev.Detail))
		}
	}
}

// books returns, for each rented group, how many nodes are ready, starting and leaving (! if the provider had too
// few), and for each lent group how many are lent and spare, or reclaimed and when they are due.
func books(ev scheduler.NodesChanged) string {
	var words []string
	for _, n := range ev.Cluster.Nodes() {
		words = append(words, string(n.ID))
	}
	for _, r := range ev.Rentals {
		word := fmt.Sprintf("%s=%d+%d-%d", r.Group, r.Ready, r.Starting, r.Leaving)
		if r.Refused {
			word += "!"
		}
		words = append(words, word)
	}
	for _, l := range ev.Loans {
		word := fmt.Sprintf("%s=%d+%d", l.Group, l.Lent, l.Spare)
		if l.Reclaim > 0 {
			word = fmt.Sprintf("%s=%d-%d@%g", l.Group, l.Lent, l.Reclaim, l.By.Sub(sim.Epoch).Seconds())
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (l *lessee) do(acts ...scheduler.Action) error { return l.w.Do(l.t.Context(), acts) }

// must asks for something that is to be had.
func (l *lessee) must(acts ...scheduler.Action) {
	l.t.Helper()
	if err := l.do(acts...); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lessee) want(lines ...string) {
	l.t.Helper()
	if diff := cmp.Diff(lines, l.log); diff != "" {
		l.t.Errorf("what was told (-want +got):\n%s", diff)
	}
	l.log = nil
}

func occupy(id cluster.NodeID) scheduler.Run {
	return scheduler.Run{
		Job:        "j",
		Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "t4"}},
		Placement:  cluster.Placement{{Node: id, Resources: cluster.Resources{GPUs: 4}}},
	}
}

func TestProvider_nodes_come_after_their_start_and_are_paid_until_released(t *testing.T) {
	l := lets(t, nil)
	l.must(scheduler.Provision{Group: "a", Nodes: 2})
	l.until(100)
	l.want("0: o a=0+2-0 s=0+0-0", "90: o a-0 a-1 a=2+0-0 s=0+0-0")
	l.must(scheduler.Return{Nodes: []cluster.NodeID{"a-0"}})
	l.until(300)
	l.want("100: o a-1 a=1+0-1 s=0+0-0", "220: o a-1 a=1+0-0 s=0+0-0")
	l.must(scheduler.Provision{Group: "a", Nodes: 3})
	l.until(400)
	l.want("300: o a-1 a=1+2-0 s=0+0-0", "390: o a-0 a-1 a-2 a=3+0-0 s=0+0-0")
}

// Lower numbers cancel what was ordered last, never what is there; and what is leaving
// counts against the most there may be.
func TestProvider_cancels_the_last_orders(t *testing.T) {
	l := lets(t, nil)
	l.must(scheduler.Provision{Group: "a", Nodes: 1})
	l.until(30)
	l.must(scheduler.Provision{Group: "a", Nodes: 3})
	l.until(60)
	l.must(scheduler.Provision{Group: "a", Nodes: 2}, scheduler.Provision{Group: "a", Nodes: 3})
	l.until(100)
	l.must(scheduler.Provision{Group: "a", Nodes: 0})
	l.until(300)
	l.want("0: o a=0+1-0 s=0+0-0", "30: o a=0+3-0 s=0+0-0", "60: o a=0+2-1 s=0+0-0", "60: o a=0+2-1! s=0+0-0",
		"90: o a-0 a=1+1-1! s=0+0-0", "100: o a-0 a=1+0-2 s=0+0-0", "180: o a-0 a=1+0-1 s=0+0-0", "220: o a-0 a=1+0-0 s=0+0-0")
	l.must(scheduler.Provision{Group: "a", Nodes: 3})
	l.until(400)
	l.want("300: o a-0 a=1+2-0 s=0+0-0", "390: o a-0 a-1 a-2 a=3+0-0 s=0+0-0")
}

func TestProvider_refuses(t *testing.T) {
	l := lets(t, func(o *sim.Options) { o.Provider.Refuse = 1 })
	l.must(scheduler.Provision{Group: "a", Nodes: 2})
	l.until(10)
	l.must(scheduler.Provision{Group: "a", Nodes: 0})
	l.until(200)
	l.want("0: o a=0+0-0! s=0+0-0", "10: o a=0+0-0 s=0+0-0")
}

// With 0.5, about half of many orders are refused: 500, with a standard deviation of 16.
func TestProvider_refuses_by_chance(t *testing.T) {
	l := lets(t, func(o *sim.Options) { o.Provider = sim.Provider{Refuse: 0.5} })
	for i := range 1000 {
		l.must(scheduler.Provision{Group: "a", Nodes: 1})
		l.until(float64(i))
		if last := l.log[len(l.log)-1]; strings.Contains(last, "a=1") {
			l.must(scheduler.Return{Nodes: []cluster.NodeID{"a-0"}})
			l.until(float64(i))
		}
	}
	if n := strings.Count(strings.Join(l.log, "\n"), "!"); n < 430 || n > 570 {
		t.Errorf("%d orders were refused, want about 500 of 1000", n)
	}
}

// A spot node is taken back: its job saves all it did, and the node is paid until the
// notice is over.
func TestProvider_takes_spot_nodes_back(t *testing.T) {
	none := time.Duration(0)
	l := lets(t, func(o *sim.Options) { o.Provider.Start, o.Restart, o.Checkpoint = 0, &none, time.Hour })
	l.must(scheduler.Provision{Group: "s", Nodes: 1})
	l.until(0)
	l.must(occupy("s-0"))
	l.until(600)
	var taken float64
	if _, err := fmt.Sscanf(l.log[2], "%g:", &taken); err != nil {
		t.Fatalf("%v in %q", err, l.log)
	}
	l.want("0: o a=0+0-0 s=0+1-0", "0: o s-0 a=0+0-0 s=1+0-0", fmt.Sprintf("%g: j lost: the provider reclaimed s-0", taken),
		fmt.Sprintf("%g: o a=0+0-0 s=0+0-1", taken), fmt.Sprintf("%g: o a=0+0-0 s=0+0-0", taken+120))
	l.must(occupy("o"))
	end := 10*3600 + 600 - taken
	l.until(end - 1)
	l.want()
	l.until(end + 1)
	if len(l.log) != 1 || !strings.HasSuffix(l.log[0], "j done: ") {
		t.Errorf("told %q, want the end of the job", l.log)
	}
}

// Spot nodes last for times of mean 1/rate: 3.6 s here, with a standard deviation of the
// mean of 400 of 0.18 s.
func TestProvider_spot_nodes_last_exponential_times(t *testing.T) {
	l := lets(t, func(o *sim.Options) { o.Provider = sim.Provider{} })
	l.until(0)
	l.must(occupy("o"))
	total := 0.0
	for n := range 400 {
		l.must(scheduler.Provision{Group: "s", Nodes: 1})
		l.until(float64(n+1) * 85)
		var came, went float64
		for i, at := range []*float64{&came, &went} {
			if _, err := fmt.Sscanf(l.log[i+1], "%g:", at); err != nil {
				t.Fatal(err)
			}
		}
		total += went - came
		l.log = nil
	}
	if mean := total / 400; mean < 3 || mean > 4.2 {
		t.Errorf("spot nodes lasted %g s in the mean, want about 3.6", mean)
	}
}

// Nodes that are not rented do not fail; those that are, are paid while they are broken,
// and come back.
func TestProvider_broken_nodes_are_paid(t *testing.T) {
	l := lets(t, func(o *sim.Options) { o.Faults = sim.Faults{NodeMTBF: time.Hour, Repair: 10 * time.Minute} })
	l.until(36000)
	for _, line := range l.log {
		if !strings.HasSuffix(line, ": a=0+0-0 s=0+0-0") && !strings.HasSuffix(line, ": o a=0+0-0 s=0+0-0") {
			t.Errorf("told %q, want news of o alone", line)
		}
	}
	l.must(scheduler.Provision{Group: "a", Nodes: 3})
	l.until(36090)
	l.log = nil
	l.until(72000)
	broken, whole := 0, 0
	for _, line := range l.log {
		switch {
		case !strings.Contains(line, "a=3+0-0"):
			t.Errorf("told %q, want three nodes paid", line)
		case strings.Contains(line, "a-0 a-1 a-2"):
			whole++
		default:
			broken++
		}
	}
	if broken == 0 || whole == 0 {
		t.Errorf("some node was broken in %d of the news and all were there in %d, want both", broken, whole)
	}
}

// A node in maintenance is not to be had; one that was rented before is there again
// after it.
func TestProvider_maintenance(t *testing.T) {
	l := lets(t, func(o *sim.Options) {
		o.Faults.Maintenance = []sim.Window{{Nodes: []cluster.NodeID{"a-0", "a-1"}, From: 50 * time.Second, To: 200 * time.Second}}
	})
	l.must(scheduler.Provision{Group: "a", Nodes: 1})
	l.until(60)
	l.must(scheduler.Provision{Group: "a", Nodes: 3})
	l.until(300)
	l.want("0: o a=0+1-0 s=0+0-0", "50: o a=0+1-0 s=0+0-0", "60: o a=0+2-0! s=0+0-0", "90: o a=1+1-0! s=0+0-0",
		"150: o a-2 a=2+0-0! s=0+0-0", "200: o a-0 a-2 a=2+0-0! s=0+0-0")
}

func TestProvider_refuses_what_cannot_be(t *testing.T) {
	for name, c := range map[string]struct {
		act  scheduler.Action
		want string
	}{
		"an unknown group":            {scheduler.Provision{Group: "b", Nodes: 1}, "group b: cannot be rented"},
		"more than offered":           {scheduler.Provision{Group: "a", Nodes: 4}, "group a: 4 nodes wanted, want 0 to 3"},
		"less than none":              {scheduler.Provision{Group: "a", Nodes: -1}, "group a: -1 nodes wanted"},
		"a node that is owned":        {scheduler.Return{Nodes: []cluster.NodeID{"o"}}, "node o: returned, want a node that is rented"},
		"a node that is not rented":   {scheduler.Return{Nodes: []cluster.NodeID{"a-2"}}, "node a-2: returned, want a node that is rented"},
		"a node twice":                {scheduler.Return{Nodes: []cluster.NodeID{"a-1", "a-1"}}, "node a-1: returned, want a node that is rented"},
		"a node with a job on it":     {scheduler.Return{Nodes: []cluster.NodeID{"a-0"}}, "node a-0: returned, want a node without jobs: job j is on it"},
		"a node that does not exist":  {scheduler.Return{Nodes: []cluster.NodeID{"x"}}, "node x: returned"},
		"what is there and then some": {scheduler.Provision{Group: "s", Nodes: 2}, "group s: 2 nodes wanted, want 0 to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			l := lets(t, nil)
			l.must(scheduler.Provision{Group: "a", Nodes: 2})
			l.until(100)
			l.must(occupy("a-0"))
			if err := l.do(c.act); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

func TestProvider_options(t *testing.T) {
	for _, p := range []sim.Provider{{Start: -1}, {Release: -1}, {Notice: -1}, {Refuse: 1.5}, {Refuse: -1}} {
		o := sim.DefaultOptions()
		o.Provider = p
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "provider: ") {
			t.Errorf("%+v: got error %v", p, err)
		}
	}
}

// A world that lets nodes keeps the contract of worlds, also where they fail, are
// refused and taken back.
func TestProvider_keeps_the_contract(t *testing.T) {
	s := busy(t)
	nodes := slices.Clone(s.cluster.Nodes())
	for i := range nodes {
		if n := &nodes[i]; i > 0 {
			n.Tenure, n.Group = cluster.Rented, cluster.Group(n.GPUType)
			n.Interruptions = float64(i % 2)
		}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	o := s.world
	o.Provider = sim.DefaultProvider()
	o.Provider.Refuse = 0.3
	o.Faults = sim.Faults{NodeMTBF: 5 * time.Hour, Repair: 10 * time.Minute}
	fresh := func(t testing.TB) scheduler.Backend {
		w, err := sim.New(c, s.catalog, s.arrivals, o)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	schedulertest.RunRenting(t, fresh, c, schedulertest.DriveRenting(c))
	schedulertest.RunRepeatable(t, fresh, schedulertest.DriveRenting(c))
	audit := schedulertest.Audit()
	audit.Checkpoint = o.Checkpoint
	if err := schedulertest.DriveRenting(c, audit)(t.Context(), fresh(t)); err != nil {
		t.Fatal(err)
	}
	if err := audit.End(); err != nil {
		t.Error(err)
	}
}
