package boa

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// host returns a node; it is rented if it has a group.
func host(id cluster.NodeID, t cluster.GPUType, gpus int, group cluster.Group) cluster.Node {
	n := cluster.Node{ID: id, GPUType: t, Capacity: cluster.Resources{GPUs: gpus}, Group: group}
	if group != "" {
		n.Tenure = cluster.Rented
	}
	return n
}

// rental returns an offer of up to ten nodes, of which so many are paid and there.
func rental(t cluster.GPUType, gpus, ready int, price cluster.Price) cluster.Rental {
	group := cluster.RentGroup(t, gpus)
	node := host("", t, gpus, group)
	node.Price = price
	return cluster.Rental{Offer: cluster.Offer{Group: group, Node: node, Most: 10}, Ready: ready}
}

// running returns an adaptive job that holds GPUs of one type.
func running(id job.ID, class job.Class, t cluster.GPUType, shares ...cluster.Share) *policy.Job {
	j := &policy.Job{Spec: &job.Spec{ID: id, Class: class, Target: 1e9, Adaptivity: job.Adaptive}}
	j.Phase, j.Submitted, j.Since, j.Placement = job.Running, dawn, dawn, shares
	j.Allocation.Configuration = cluster.Configuration{Nodes: len(shares), GPUType: t}
	for _, s := range shares {
		j.Allocation.GPUs += s.GPUs
	}
	if len(shares) == 0 {
		j.Phase, j.Allocation = job.Waiting, cluster.Allocation{}
	}
	return j
}

func share(id cluster.NodeID, gpus int) cluster.Share {
	return cluster.Share{Node: id, Resources: cluster.Resources{GPUs: gpus}}
}

// linear returns a class whose jobs are as fast as they have GPUs, of one type only, up to
// so many by epoch.
func linear(class job.Class, t cluster.GPUType, widths ...int) *perf.ClassStats {
	s := &perf.ClassStats{Class: class, Rate: 1e-5}
	for range widths {
		s.Sizes = append(s.Sizes, 86400)
	}
	s.Speeds = perf.EpochSpeed(func(epoch int, c cluster.Configuration) float64 {
		if c.GPUs > widths[epoch] || c.GPUType != t {
			return 0
		}
		return float64(c.GPUs)
	})
	return s
}

func snapshot(t *testing.T, at time.Duration, nodes []cluster.Node, rentals []cluster.Rental, classes []*perf.ClassStats, jobs ...*policy.Job) *policy.Snapshot {
	t.Helper()
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return &policy.Snapshot{Now: dawn.Add(at), Length: time.Minute, Cluster: c, Rentals: rentals, Classes: classes, Jobs: jobs}
}

func ask(t *testing.T, p *Policy, s *policy.Snapshot) *policy.Plan {
	t.Helper()
	plan, err := p.Plan(t.Context(), s)
	if err == nil {
		err = policy.Check(s, plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func policyWith(t *testing.T, change func(*Options)) *Policy {
	t.Helper()
	o := DefaultOptions()
	change(&o)
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func unbounded(*Options) {}

// Jobs that are to grow keep what they hold, also in a round in which the first node of a
// GPU type is asked for.
func TestANewGPUTypeTakesNothing(t *testing.T) {
	far := running("far", "", "a100")
	far.Spec.GPUTypes = []cluster.GPUType{"a100"}
	g1, g2 := running("g1", "g", "t4", share("n1", 4)), running("g2", "g", "t4", share("n2", 4))
	g1.Epoch, g2.Epoch = 1, 1
	nodes := []cluster.Node{host("n1", "t4", 4, "t4-4"), host("n2", "t4", 4, "t4-4")}
	s := snapshot(t, 0, nodes, []cluster.Rental{rental("t4", 4, 2, 0), rental("a100", 4, 0, 0)}, []*perf.ClassStats{linear("g", "t4", 4, 12)}, far, g1, g2)
	plan := ask(t, policyWith(t, unbounded), s)
	for i, j := range s.Jobs[1:] {
		if d := plan.Jobs[i+1]; !d.Placement.Equal(j.Placement) {
			t.Errorf("job %s: on %v, want %v until the rest is there", j.ID, d.Placement, j.Placement)
		}
	}
	if plan.Capacity["t4-4"] != 6 || plan.Capacity["a100-4"] != 1 {
		t.Errorf("nodes wanted: %v, want 6 and 1", plan.Capacity)
	}
}

// Widths that were computed for nodes which are no longer there are not looked up among
// those that are.
func TestOffersChange(t *testing.T) {
	p := policyWith(t, unbounded)
	nodes := []cluster.Node{host("n1", "t4", 4, ""), host("n2", "a100", 4, "")}
	classes := []*perf.ClassStats{linear("x", "a100", 4)}
	plan := ask(t, p, snapshot(t, 0, nodes, nil, classes, running("j", "x", "")))
	if d := plan.Jobs[0]; d.Allocation.GPUType != "a100" || d.Allocation.GPUs != 4 {
		t.Fatalf("%v, want 4 of a100", d.Allocation)
	}
	plan = ask(t, p, snapshot(t, time.Minute, nodes[1:], nil, classes, running("j", "x", "")))
	if d := plan.Jobs[0]; d.Allocation.GPUType != "a100" || d.Allocation.GPUs != 4 {
		t.Errorf("without the t4: %v, want 4 of a100", d.Allocation)
	}
	plan = ask(t, p, snapshot(t, 2*time.Minute, nodes[:1], nil, classes, running("j", "x", "")))
	if d := plan.Jobs[0]; d.Allocation.GPUType != "t4" {
		t.Errorf("without the a100: %v, want what is there", d.Allocation)
	}
}

// Widths are computed anew when there is more to choose from.
func TestOffersDrift(t *testing.T) {
	p := policyWith(t, unbounded)
	nodes := []cluster.Node{host("n1", "t4", 4, ""), host("n2", "t4", 4, "")}
	classes := []*perf.ClassStats{linear("x", "t4", 8)}
	ask(t, p, snapshot(t, 0, nodes[:1], nil, classes, running("j", "x", "")))
	s := snapshot(t, time.Hour, nodes, nil, classes, running("j", "x", ""))
	s.Computed = ask(t, p, s).Background.Do(t.Context())
	if d := ask(t, p, s).Jobs[0]; d.Allocation.GPUs != 8 {
		t.Errorf("%v on two nodes, want 8 GPUs", d.Allocation)
	}
}

// Nodes of different sizes: no job waits for large ones that there are not.
func TestOwnedNodesOfTwoSizes(t *testing.T) {
	p := policyWith(t, unbounded)
	nodes := []cluster.Node{host("n1", "t4", 8, ""), host("n2", "t4", 4, ""), host("n3", "t4", 4, "")}
	s := snapshot(t, 0, nodes, nil, []*perf.ClassStats{linear("x", "t4", 64)}, running("j", "x", ""), running("k", "x", ""))
	for i, d := range ask(t, p, s).Jobs {
		if d.Allocation.GPUs != 8 && i == 0 {
			t.Errorf("job %d: %v, %v; want 8 GPUs", i, d.Allocation, d.Why)
		}
	}
}

// Jobs that need nodes of several sizes have them.
func TestOneJobOnTwoSizes(t *testing.T) {
	nodes := []cluster.Node{host("n1", "t4", 8, ""), host("n2", "t4", 4, "")}
	rigid, reserved := running("j", "", ""), running("j", "", "")
	rigid.Spec.GPUs, rigid.Spec.Adaptivity = 12, 0
	reserved.Reservation = cluster.Configuration{Nodes: 2, GPUs: 12, GPUType: "t4"}
	for _, j := range []*policy.Job{rigid, reserved} {
		if d := ask(t, policyWith(t, unbounded), snapshot(t, 0, nodes, nil, nil, j)).Jobs[0]; d.Allocation.GPUs != 12 {
			t.Errorf("%v, %+v; want 12 GPUs", d.Allocation, d.Why)
		}
	}
}

// Reservations have the nodes that they name, whatever is offered first.
func TestReservationsAreExact(t *testing.T) {
	nodes := []cluster.Node{host("n1", "t4", 4, "t4-4"), host("n2", "t4", 4, "t4-4"), host("n3", "t4", 4, "t4-4"), host("n4", "t4", 8, "t4-8")}
	for _, c := range []cluster.Configuration{{Nodes: 1, GPUs: 8, GPUType: "t4"}, {Nodes: 3, GPUs: 4, GPUType: "t4"}, {Nodes: 2, GPUs: 6, GPUType: "t4"}, {Nodes: 2, GPUs: 2, GPUType: "t4"}} {
		j := running("j", "", "")
		j.Reservation = c
		s := snapshot(t, 0, nodes, []cluster.Rental{rental("t4", 4, 3, 0), rental("t4", 8, 1, 0)}, nil, j)
		if d := ask(t, policyWith(t, unbounded), s).Jobs[0]; d.Allocation.Configuration != c {
			t.Errorf("reserved %v: %v, %v", c, d.Allocation, d.Why)
		}
	}
}

// What a job holds costs what its own GPU type does.
func TestDearGPUsAreLeft(t *testing.T) {
	j := running("j", "", "a100", share("n1", 1))
	s := snapshot(t, 0, []cluster.Node{host("n1", "a100", 4, "a100-4"), host("n2", "t4", 4, "t4-4")}, []cluster.Rental{rental("a100", 4, 1, 10), rental("t4", 4, 1, 1)}, nil, j)
	p := policyWith(t, func(o *Options) { o.Budget, o.Money = 1000, true })
	if d := ask(t, p, s).Jobs[0]; d.Allocation.GPUType != "t4" {
		t.Errorf("%v at 10 instead of 1, and as fast: %v", d.Allocation, d.Why)
	}
}

// spent returns a policy that has spent all that it may.
func spent(t *testing.T) *Policy {
	p := policyWith(t, func(o *Options) { o.Budget = 1 })
	p.ledger = ledger{begun: dawn, points: []point{{at: dawn}, {at: dawn.Add(24 * time.Hour), spent: 1e6}}}
	return p
}

// Where money ends, jobs stay on nodes that cost nothing, and beside jobs that may not be
// stopped: stopping them would save nothing.
func TestWhomStoppingSavesNothingStays(t *testing.T) {
	a, b, c, pinned := running("a", "", "t4", share("own", 4)), running("b", "", "t4", share("n1", 4)), running("c", "", "t4", share("n2", 1)), running("d", "", "t4", share("n2", 2))
	for _, j := range []*policy.Job{a, b, c} {
		j.Spec.Adaptivity, j.Spec.GPUs = 0, j.Allocation.GPUs
	}
	a.Spec.Target, pinned.Spec.NonPreemptive = 1e12, true
	nodes := []cluster.Node{host("own", "t4", 8, ""), host("own2", "t4", 4, ""), host("n1", "t4", 4, "t4-4"), host("n2", "t4", 4, "t4-4")}
	plan := ask(t, spent(t), snapshot(t, 24*time.Hour, nodes, []cluster.Rental{rental("t4", 4, 2, 0)}, nil, a, b, c, pinned))
	for i, want := range []cluster.Placement{a.Placement, nil, c.Placement, pinned.Placement} {
		if d := plan.Jobs[i]; want != nil && !d.Placement.Equal(want) {
			t.Errorf("job %d: on %v, %v; want %v", i, d.Placement, d.Why, want)
		}
	}
	if d := plan.Jobs[1]; len(d.Placement) > 0 && d.Placement[0].Node == "n1" {
		t.Errorf("the job that costs money stays: %v", d.Why)
	}
}

// A node that breaks is replaced, as long as there are others to be had.
func TestBrokenNodesAreReplaced(t *testing.T) {
	for most, want := range map[int]struct {
		nodes int
		why   policy.Kind
	}{10: {2, policy.WaitNodes}, 1: {1, policy.WaitNoCapacity}} {
		r := rental("t4", 4, 1, 0)
		r.Most = most
		plan := ask(t, policyWith(t, unbounded), snapshot(t, 0, nil, []cluster.Rental{r}, nil, running("j", "", "")))
		if plan.Capacity["t4-4"] != want.nodes || plan.Jobs[0].Why.Kind != want.why {
			t.Errorf("at most %d: %d nodes wanted, %v; want %v", most, plan.Capacity["t4-4"], plan.Jobs[0].Why, want)
		}
	}
}

// Jobs on nodes that are owned are no part of what is paid.
func TestOwnedNodesCostNothing(t *testing.T) {
	p := policyWith(t, func(o *Options) { o.Budget = 10 })
	j := running("j", "", "t4", share("own", 4))
	j.Spec.Adaptivity, j.Spec.GPUs = 0, 4
	ask(t, p, snapshot(t, 0, []cluster.Node{host("own", "t4", 4, "")}, []cluster.Rental{rental("t4", 4, 0, 0)}, nil, j))
	if p.rate != 0 {
		t.Errorf("widths cost %g per hour, want 0", p.rate)
	}
}

// A job stays on nodes of a kind that is not offered any more.
func TestJobsOutliveTheirOffer(t *testing.T) {
	j := running("j", "", "a100", share("n1", 4))
	j.Spec.GPUTypes = []cluster.GPUType{"a100"}
	s := snapshot(t, 0, []cluster.Node{host("n1", "a100", 4, "gone")}, []cluster.Rental{rental("t4", 4, 0, 0)}, nil, j)
	if d := ask(t, policyWith(t, unbounded), s).Jobs[0]; !d.Placement.Equal(j.Placement) {
		t.Errorf("on %v, %v; want %v", d.Placement, d.Why, j.Placement)
	}
}

// Nodes that are owned are used before others are rented, or kept.
func TestOwnedNodesComeFirst(t *testing.T) {
	j := running("j", "", "")
	j.Spec.Adaptivity, j.Spec.GPUs = 0, 4
	nodes := []cluster.Node{host("n1", "t4", 4, "t4-4"), host("own", "t4", 8, "")}
	plan := ask(t, policyWith(t, unbounded), snapshot(t, 0, nodes, []cluster.Rental{rental("t4", 4, 1, 0)}, nil, j))
	if d := plan.Jobs[0]; !d.Placement.Equal(cluster.Placement{share("own", 4)}) || plan.Capacity["t4-4"] != 0 {
		t.Errorf("on %v with %d nodes rented, want the one that is owned", d.Placement, plan.Capacity["t4-4"])
	}
}
