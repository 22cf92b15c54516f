package oxgang

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

func prior(p float64) func(*job.Spec) { return func(s *job.Spec) { s.Priority = p } }

// elastic lets a job have so many GPUs.
func elastic(least, most int) func(*job.Spec) {
	return func(s *job.Spec) {
		s.MinGPUs, s.MaxGPUs, s.Adaptivity, s.Batch.Max = least, most, job.Adaptive, 64*most
	}
}

// expect plays a round and compares who has GPUs.
func (w *small) expect(what string, want map[job.ID]int) {
	w.t.Helper()
	if has := w.round(); fmt.Sprint(has) != fmt.Sprint(want) {
		w.t.Errorf("%s: %v have GPUs, want %v", what, has, want)
	}
}

// A job of a higher priority stops one of a lower, however short that is, which goes on once it has ended; not one that may not be
// preempted.
func TestPlan_priority_decides_who_runs(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		w := newSmall(t, DefaultOptions(), 1, 8)
		w.submit("low", 8, 10*time.Minute, func(s *job.Spec) { s.NonPreemptive = pinned })
		w.expect("alone", map[job.ID]int{"low": 8})
		w.submit("high", 8, 3*time.Minute, prior(1))
		if pinned {
			w.expect("not to be preempted", map[job.ID]int{"low": 8})
			continue
		}
		for range 3 {
			w.expect("of a higher priority", map[job.ID]int{"high": 8})
		}
		w.expect("after its end", map[job.ID]int{"low": 8})
	}
}

// Where a level leaves room, the next has it, as if there were no others; and who is kept out by a higher priority is told so.
func TestPlan_levels_share_what_is_left(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 8)
	w.submit("long", 2, 9*time.Hour)
	w.submit("short", 2, time.Hour)
	w.submit("wide", 4, time.Hour)
	w.submit("high", 6, time.Hour, prior(7))
	plan := w.plan()
	for i, want := range []policy.Kind{policy.Started, policy.WaitPrice, policy.WaitPriority, policy.Started} {
		if got := plan.Jobs[i].Why.Kind; got != want {
			t.Errorf("%s: %v, want %v", w.s.Jobs[i].ID, got, want)
		}
	}
	if why := plan.Jobs[2].Why; why.Config.GPUs != 4 || why.Value != 0 || why.Limit != 4 {
		t.Errorf("%+v: want 4 GPUs needed, and 0 free", why)
	}
}

// An elastic job of a high priority has what it asks for before others, and grows beyond that with what they leave.
func TestPlan_priority_is_no_claim_to_grow(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 8)
	w.submit("high", 2, 50*time.Hour, prior(1), elastic(1, 8))
	w.expect("alone", map[job.ID]int{"high": 8})
	w.submit("low", 4, time.Minute)
	w.expect("what it does not ask for", map[job.ID]int{"high": 4, "low": 4})
	w.expect("after the end of the other", map[job.ID]int{"high": 8})
	w.submit("lower", 7, time.Hour)
	w.expect("what it asks for", map[job.ID]int{"high": 8})
}

// One that holds more than it asks for gives back what others need, and does not go to another type for it.
func TestPlan_priority_gives_back_where_it_is(t *testing.T) {
	for _, other := range []cluster.GPUType{"a10", "t4"} { // before a100 in the order of types, and after
		w := newSmall(t, DefaultOptions(), 1, 8)
		w.submit("high", 2, 50*time.Hour, prior(1), elastic(1, 8))
		w.expect("alone", map[job.ID]int{"high": 8})
		w.s.Cluster = both(t, clusterOf(t, "a100", 1, 8), clusterOf(t, other, 1, 8))
		w.submit("low", 4, time.Hour, func(s *job.Spec) { s.GPUTypes = []cluster.GPUType{"a100"} })
		w.round()
		if d := w.last.Jobs[0]; d.Allocation.GPUType != "a100" || d.Allocation.GPUs != 4 || w.last.Jobs[1].Allocation.GPUs != 4 {
			t.Errorf("beside %s: %s", other, (&small{s: w.before, last: w.last}).list(w.last))
		}
	}
}

func both(t *testing.T, a, b *cluster.Cluster) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New(append(append([]cluster.Node{}, a.Nodes()...), b.Nodes()...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Its rho lets no job of a lower priority pass one of a higher that waits.
func TestPlan_priority_before_fairness(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	w.submit("low", 1, time.Hour)
	for n := range 1000 {
		for len(w.s.Jobs) < 3 {
			w.submit(job.ID(fmt.Sprintf("high-%d-%d", n, len(w.s.Jobs))), 1, 5*time.Minute, prior(1))
		}
		if w.round()["low"] > 0 {
			t.Fatalf("round %d: runs while others of a higher priority wait", n)
		}
	}
}

// Equal priorities change nothing, whatever they are.
func TestPlan_equal_priorities(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		play := func(priority float64) (all []string) {
			w := newSmall(t, DefaultOptions(), 2, 8)
			for n := range 9 {
				w.submit(job.ID(fmt.Sprint("j", n)), 1+n%5, time.Duration(1+n*n%7)*10*time.Minute, prior(priority))
			}
			for range 6 {
				w.round()
				all = append(all, fmt.Sprintf("%+v", *w.last))
			}
			return all
		}
		x := rapid.SampledFrom([]float64{-3, 7, 1e9}).Draw(rt, "priority")
		if a, b := play(0), play(x); fmt.Sprint(a) != fmt.Sprint(b) {
			rt.Fatalf("priority %g: plans are\n%v\nwant\n%v", x, b, a)
		}
	})
}

// In random rounds no job waits that the GPUs of jobs of a lower priority, and those that are free, would be enough for, if these may be preempted; nor
// for GPUs that others have beyond what they ask for, whatever their priority, unless it is the same.
func TestPlan_priority_property(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawPrior(t, rt)
		for range 5 {
			w.round()
			before := &small{t: t, s: w.before, last: w.last}
			for i, j := range before.s.Jobs {
				if before.last.Jobs[i].Allocation.IsZero() && !j.Holding() { // who is stopped may start elsewhere in the next round
					before.keptOut(rt, j)
				}
			}
		}
	})
}

// drawPrior returns a cluster of two types and jobs of three priorities.
func drawPrior(t *testing.T, rt *rapid.T) *small {
	w := newSmall(t, DefaultOptions(), 1, 8)
	w.s.Cluster = both(t, clusterOf(t, "a100", 2, 8), clusterOf(t, "t4", 3, 4))
	for n := range rapid.IntRange(1, 14).Draw(rt, "jobs") {
		gpus := rapid.SampledFrom([]int{1, 1, 2, 4, 8, 12}).Draw(rt, "GPUs")
		minutes := rapid.IntRange(1, 300).Draw(rt, "minutes")
		set := []func(*job.Spec){prior(float64(rapid.IntRange(0, 2).Draw(rt, "priority")))}
		switch rapid.IntRange(0, 3).Draw(rt, "kind") {
		case 0:
			set = append(set, elastic(1, 4*gpus))
		case 1:
			set = append(set, func(s *job.Spec) { s.NonPreemptive = true })
		case 2:
			set = append(set, func(s *job.Spec) { s.NoCheckpoint, s.GPUTypes = true, []cluster.GPUType{"t4"} })
		}
		w.submit(job.ID(fmt.Sprint("j", n)), gpus, time.Duration(minutes)*time.Minute, set...)
	}
	return w
}

// keptOut checks a job that waits.
func (w *small) keptOut(rt *rapid.T, j *policy.Job) {
	plan, kind := w.last, w.last.Jobs[w.s.Index(j.ID)].Why.Kind
	if kind == policy.WaitPriority && !slices.ContainsFunc(w.s.Jobs, func(other *policy.Job) bool {
		a := &plan.Jobs[w.s.Index(other.ID)].Allocation
		return other.Priority > j.Priority && a.GPUs > 0 && j.Eligible(a.GPUType)
	}) {
		rt.Fatalf("%s: none of a higher priority has GPUs\n%s", j.ID, w.list(plan))
	}
	for _, of := range w.s.Cluster.Types() {
		lower, surplus := of.GPUs, of.GPUs
		for k, other := range w.s.Jobs {
			a := &plan.Jobs[k].Allocation
			if a.GPUType != of.Type {
				continue
			}
			kept := plan.Jobs[k].Why.Kind == policy.PinnedNonPreempt || plan.Jobs[k].Why.Kind == policy.PinnedRestore
			if other.Priority >= j.Priority || kept {
				lower -= a.GPUs
			}
			if kept || other.Priority == j.Priority {
				surplus -= a.GPUs
			} else {
				surplus -= min(a.GPUs, other.GPUs)
			}
		}
		least := j.GPUs
		if j.Adaptivity.Has(job.GPUCount) {
			least = j.Min(of.Type)
		}
		if !j.Eligible(of.Type) || of.Fewest(least).GPUs != least || least > of.GPUs {
			continue
		}
		if lower >= least {
			rt.Fatalf("round %d: %s of priority %g waits for %d %s, and those of a lower priority leave or have %d\n%s", w.s.Round, j.ID, j.Priority, least, of.Type, lower, w.list(plan))
		}
		if surplus >= least {
			rt.Fatalf("round %d: %s waits for %d %s, and others have %d more than they ask for\n%s", w.s.Round, j.ID, least, of.Type, surplus, w.list(plan))
		}
	}
}

// list says who has what.
func (w *small) list(plan *policy.Plan) (text string) {
	for i, j := range w.s.Jobs {
		text += fmt.Sprintf("%s priority %g asks for %d, has %v: %v\n", j.ID, j.Priority, j.GPUs, plan.Jobs[i].Allocation, plan.Jobs[i].Why.Kind)
	}
	return text
}

// arriving returns the rented nodes of a queue of four at most: three of eight GPUs are there, a job of one and one of two run on them,
// and a longer one of one has come.
func arriving(t *testing.T, most int) *small {
	t.Helper()
	w := newSmall(t, renting(0), most, 8)
	nodes := append([]cluster.Node{}, w.s.Cluster.Nodes()...)
	for i := range nodes {
		nodes[i].Tenure, nodes[i].Group = cluster.Rented, "rent"
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	w.s.Rentals, w.s.Cluster = c.Rentals(), c.Without(func(id cluster.NodeID) bool { i, _ := c.Index(id); return i >= 3 })
	w.s.Rentals[0].Ready = 3
	w.submit("one", 8, 1000*time.Second, unsaved)
	w.submit("two", 16, 1000*time.Second, unsaved)
	w.plan()
	w.holds(0, "a100-0")
	w.holds(1, "a100-1", "a100-2")
	w.s.Now = w.s.Now.Add(30 * time.Second)
	w.s.Round++
	w.plan()
	w.submit("three", 8, 5000*time.Second, unsaved)
	w.s.Round++
	return w
}

func unsaved(s *job.Spec) { s.NoCheckpoint = true }

// holds lets a job run on whole nodes of eight GPUs.
func (w *small) holds(i int, nodes ...cluster.NodeID) {
	j := w.s.Jobs[i]
	j.Phase, j.Since = job.Running, w.s.Now
	j.Allocation.Configuration = cluster.Configuration{Nodes: len(nodes), GPUs: 8 * len(nodes), GPUType: "a100"}
	for _, n := range nodes {
		j.Placement = append(j.Placement, cluster.Share{Node: n, Resources: cluster.Resources{GPUs: 8}})
	}
}

// An elastic job that has grown keeps what it holds where a job waits for a node on its way, and may have what is free.
func TestPlan_keeps_sizes_while_nodes_come(t *testing.T) {
	w := rentable(t, 0, 2)
	w.submit("grown", 1, 1000*time.Second, elastic(1, 2))
	w.plan()
	j := w.s.Jobs[0]
	j.Phase, j.Since, j.Allocation.Configuration = job.Running, w.s.Now, cluster.Configuration{Nodes: 2, GPUs: 2, GPUType: "a100"}
	j.Placement = cluster.Placement{{Node: "a100-0", Resources: cluster.Resources{GPUs: 1}}, {Node: "a100-1", Resources: cluster.Resources{GPUs: 1}}}
	w.submit("next", 1, time.Hour)
	w.s.Round++
	if plan := w.plan(); plan.Jobs[0].Allocation.GPUs != 2 || plan.Jobs[1].Why.Kind != policy.WaitNodes {
		t.Error(w.list(plan))
	}
}

// A job whose node was ordered, or can be, is not worth the stop of another; where there can be no more nodes, it may be. In the time over
// which a preemption has to pay its node comes, or it goes with the others.
func TestPlan_waits_for_nodes_on_their_way(t *testing.T) {
	w := arriving(t, 4)
	plan := w.plan()
	if plan.Capacity["rent"] != 4 || plan.Jobs[0].Allocation.IsZero() || plan.Jobs[1].Allocation.IsZero() || plan.Jobs[2].Why.Kind != policy.WaitNodes {
		t.Errorf("%d nodes are wanted: %s", plan.Capacity["rent"], w.list(plan))
	}
	w.s.Rentals[0].Starting = 1
	for minutes := range 20 {
		w.s.Round, w.s.Now = w.s.Round+1, w.s.Now.Add(time.Minute)
		if plan = w.plan(); (plan.Jobs[2].Why.Kind == policy.WaitNodes) != (minutes < 14) {
			t.Errorf("after %d minutes: %s", minutes+1, w.list(plan))
			break
		}
	}
	for name, w := range map[string]*small{"no more nodes": arriving(t, 3), "refused": arriving(t, 4)} {
		w.s.Rentals[0].Refused = name == "refused"
		if plan := w.plan(); !plan.Jobs[1].Allocation.IsZero() {
			t.Errorf("%s: want the job of two nodes to stop: %s", name, w.list(plan))
		}
	}
}

// crowded returns two nodes of eight GPUs on which jobs of two GPUs without checkpoints run, of the given priorities, the first
// four on the first, the last for the shortest time; and a job of so many GPUs has come, of priority 5.
func crowded(t *testing.T, gpus int, priorities ...float64) *small {
	t.Helper()
	w := newSmall(t, DefaultOptions(), 2, 8)
	for n, of := range priorities {
		w.submit(job.ID(fmt.Sprint("low-", n)), 2, 5*time.Hour, unsaved, prior(of))
		j := w.s.Jobs[n]
		j.Phase, j.Since = job.Running, w.s.Now.Add(-time.Duration(20-n)*time.Minute)
		j.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a100"}
		j.Placement = cluster.Placement{{Node: cluster.NodeID(fmt.Sprint("a100-", n/4)), Resources: cluster.Resources{GPUs: 2}}}
	}
	w.submit("high", gpus, time.Hour, prior(5))
	return w
}

// A job of a higher priority that needs a whole node has one, of jobs that no placer moves, not GPUs of two: those of the lowest priority
// stop, then those that lose least.
func TestPlan_priority_makes_room_on_one_node(t *testing.T) {
	for name, test := range map[string]struct {
		w    *small
		stop []int
	}{
		"who lose least":       {crowded(t, 8, 1, 1, 1, 1, 1, 1, 1, 1), []int{4, 5, 6, 7}},
		"of a lower priority":  {crowded(t, 8, 1, 1, 1, 1, 2, 1, 1, 1), []int{0, 1, 2, 3}},
		"not of the same":      {crowded(t, 8, 2, 2, 2, 2, 5, 1, 1, 1), []int{0, 1, 2, 3}},
		"not of a whole other": {crowded(t, 8, 1, 1, 1, 1), nil},
		"of a part of a node":  {crowded(t, 4, 2, 1, 1, 2, 2, 2, 2, 2), []int{1, 2}},
	} {
		plan := test.w.plan()
		for i := range plan.Jobs {
			if d, stops := &plan.Jobs[i], slices.Contains(test.stop, i); d.Allocation.IsZero() != stops || stops && d.Why.Kind != policy.WaitPriority {
				t.Errorf("%s: job %d:\n%s", name, i, test.w.list(plan))
				break
			}
		}
	}
}

// A job that holds a node and has no choice any more, as its user allows only a type that is gone, leaves; it is nobody that would have to stop.
func TestPlan_priority_in_the_place_of_one_without_a_choice(t *testing.T) {
	w := crowded(t, 8, 1, 1, 1, 1, 1, 1, 1, 1)
	for _, j := range w.s.Jobs[:4] {
		j.GPUTypes = []cluster.GPUType{"gone"}
	}
	plan := w.plan()
	for i := range plan.Jobs[:8] {
		d := &plan.Jobs[i]
		if gone := i < 4; d.Allocation.IsZero() != gone || gone && d.Why.Kind != policy.Impossible {
			t.Errorf("job %d:\n%s", i, w.list(plan))
		}
	}
	if plan.Jobs[8].Allocation.GPUs != 8 {
		t.Errorf("want that high has the node that they leave:\n%s", w.list(plan))
	}
}

// Parts of CPUs and memory add up to all of them: the last job of a node fits, whatever the rounding.
func TestPlan_levels_fill_a_node(t *testing.T) {
	for n := range 200 {
		w := newSmall(t, DefaultOptions(), 1, 7)
		node := w.s.Cluster.Nodes()[0]
		node.Capacity.CPUs, node.Capacity.Memory = 10+0.37*float64(n), 1<<36
		c, err := cluster.New([]cluster.Node{node})
		if err != nil {
			t.Fatal(err)
		}
		w.s.Cluster = c
		for k := range 7 {
			w.submit(job.ID(fmt.Sprint("j", k)), 1, time.Hour, prior(float64(k)))
		}
		for i, d := range w.plan().Jobs {
			if d.Allocation.IsZero() {
				t.Fatalf("%g CPUs: job %d waits: %v", node.Capacity.CPUs, i, d.Why)
			}
		}
	}
}
