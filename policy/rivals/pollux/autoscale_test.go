package pollux_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/pollux"
)

func autoscaler(t testing.TB, change func(*pollux.AutoscaleOptions)) *pollux.Autoscaler {
	t.Helper()
	o := pollux.DefaultAutoscaleOptions()
	if change != nil {
		change(&o)
	}
	a, err := pollux.NewAutoscaler(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const most = 40 // nodes: 160 GPUs, BOA's cluster

// rented returns a snapshot with so many rented nodes of 4 GPUs, of the most there are.
func rented(t testing.TB, ready int, jobs ...*policy.Job) *policy.Snapshot {
	t.Helper()
	var nodes []cluster.Node
	for i := range max(1, ready) {
		nodes = append(nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("r-%02d", i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 4}, Group: "spot", Tenure: cluster.Rented,
		})
	}
	c, err := cluster.New(nodes[:ready])
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot(c, jobs...)
	s.Rentals = []cluster.Rental{{Offer: cluster.Offer{Group: "spot", Node: nodes[0], Most: most}, Ready: ready}}
	return s
}

// with returns the snapshot a minute after a plan was carried out, with so many nodes.
func with(t testing.TB, nodes int, s *policy.Snapshot, plan *policy.Plan) *policy.Snapshot {
	t.Helper()
	n := next(s, plan)
	to := rented(t, nodes)
	n.Cluster, n.Rentals = to.Cluster, to.Rentals
	return n
}

// singles returns jobs that have one GPU each at most: a cluster's efficiency is the part
// of its GPUs that they use.
func singles(n int) []*policy.Job {
	var jobs []*policy.Job
	for i := range n {
		jobs = append(jobs, waiting(job.ID(fmt.Sprintf("s%02d", i)), linear(), func(j *policy.Job) { j.Spec.MaxGPUs = 1 }))
	}
	return jobs
}

// small is a search that is long enough for jobs of one GPU.
func small(o *pollux.AutoscaleOptions) { o.Population, o.Generations = 10, 5 }

// Without rentals an autoscaler is Pollux.
func TestWithoutRentalsItIsPollux(t *testing.T) {
	s := snapshot(clusterOf(t, shape{"v100", 4, 4}), scaling(0), scaling(1), scaling(2))
	got, want := mustPlan(t, autoscaler(t, nil), s), mustPlan(t, fresh(t, nil), s)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without jobs the least nodes are wanted, of which others than rented ones are a part.
func TestLeastNodesWithoutJobs(t *testing.T) {
	for _, test := range []struct{ least, owned, ready, want int }{{2, 0, 0, 2}, {2, 0, 9, 2}, {0, 0, 3, 0}, {3, 2, 5, 1}, {3, 4, 5, 0}, {99, 0, 5, most}} {
		s := rented(t, test.ready)
		var err error
		if s.Cluster, err = cluster.New(append(clusterOf(t, shape{"v100", test.owned, 4}).Nodes(), s.Cluster.Nodes()...)); err != nil {
			t.Fatal(err)
		}
		a := autoscaler(t, func(o *pollux.AutoscaleOptions) { o.Least = test.least })
		if got := mustPlan(t, a, s).Capacity["spot"]; got != test.want {
			t.Errorf("least %d, %d owned and %d rented: %d wanted, want %d", test.least, test.owned, test.ready, got, test.want)
		}
	}
}

// A cluster without nodes has no efficiency: its size is found at once, by the 29 jobs of one
// GPU that there are.
func TestFirstSizeIsFoundAtOnce(t *testing.T) {
	if got := mustPlan(t, autoscaler(t, small), rented(t, 0, singles(29)...)).Capacity["spot"]; got != 12 {
		t.Errorf("%d nodes wanted, want 12", got)
	}
}

// Nodes that were on their way before the first round are wanted.
func TestNodesOnTheirWayAreWanted(t *testing.T) {
	s := rented(t, 3, singles(7)...)
	s.Rentals[0].Starting = 5
	if got := mustPlan(t, autoscaler(t, small), s).Capacity["spot"]; got != 8 {
		t.Errorf("%d nodes wanted, want 8", got)
	}
}

// An offer of nodes without GPUs is an error.
func TestOfferIsNoNode(t *testing.T) {
	s := rented(t, 1)
	s.Rentals[0].Node.Capacity.GPUs = 0
	_, err := autoscaler(t, nil).Plan(t.Context(), s)
	if err == nil || !strings.HasPrefix(err.Error(), "pollux: round 0: offer of group spot: node 1 (\"spot: 0 to come\"): 0 GPUs, want at least 1") {
		t.Errorf("got error %v, want it to name the offer", err)
	}
}

// A job that could run on the most nodes is not kept from it by a target: so many are wanted
// at once, and it waits for them.
func TestBigJobHasItsNodes(t *testing.T) {
	for _, reserved := range []bool{false, true} {
		want := cluster.Configuration{Nodes: 4, GPUs: 16, GPUType: "v100"}
		big := waiting("big", linear(), func(j *policy.Job) {
			j.GPUs, j.Adaptivity = 16, 0
			if reserved {
				j.Reservation = want
			}
		})
		a := autoscaler(t, small)
		s := rented(t, 0, big)
		for _, there := range []int{0, 2} {
			plan := mustPlan(t, a, s)
			why := policy.Reason{Kind: policy.WaitNoCapacity, Config: want, Value: float64(4 * there), Limit: 16}
			if got := plan.Capacity["spot"]; got < 4 || plan.Jobs[0].Why != why {
				t.Errorf("reserved: %t, on %d nodes: %d wanted, %+v, want at least 4, and %+v", reserved, there, got, plan.Jobs[0].Why, why)
			}
			s = with(t, 2, s, plan)
		}
		s = with(t, 4, s, mustPlan(t, a, s))
		if got := gpus(mustPlan(t, a, s)); got[0] != 16 {
			t.Errorf("reserved: %t: %v GPUs on 4 nodes, want 16", reserved, got)
		}
	}
}

// A cluster that shrinks keeps its jobs where most of them are, and one that may not be
// preempted wherever it is.
func TestShrinkingClusterKeepsWhatIsUsed(t *testing.T) {
	s := rented(t, 10, singles(5)...)
	for i, node := range []cluster.NodeID{"r-03", "r-03", "r-08", "r-08", "r-09"} {
		j := s.Jobs[i]
		j.Phase, j.Allocation.Configuration = job.Running, cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}
		j.Placement, j.NonPreemptive = cluster.Placement{{Node: node, Resources: cluster.Resources{GPUs: 1}}}, i == 4
		j.RestartOverhead, j.FirstStarted = 30*time.Second, j.Submitted
	}
	a := autoscaler(t, small)
	for range 2 { // 0.125 twice; then 5/8
		s = next(s, mustPlan(t, a, s))
	}
	plan := mustPlan(t, a, s)
	if got := plan.Capacity["spot"]; got != 2 {
		t.Fatalf("%d nodes wanted, want 2", got)
	}
	on := make(map[cluster.NodeID]int)
	for i := range plan.Jobs {
		on[plan.Jobs[i].Placement[0].Node]++
	}
	if want := map[cluster.NodeID]int{"r-03": 4, "r-09": 1}; !cmp.Equal(on, want) && !cmp.Equal(on, map[cluster.NodeID]int{"r-03": 2, "r-09": 3}) {
		t.Errorf("jobs by node %v, want %v or one more", on, want)
	}
}

// A reservation that comes while a cluster shrinks does not wait beside nodes that are there,
// though those that are to stay are in use, and then has enough of them.
func TestReservationStopsShrinking(t *testing.T) {
	s := rented(t, 4, waiting("pinned", linear(), func(j *policy.Job) {
		j.Phase, j.NonPreemptive, j.Allocation.Configuration = job.Running, true, cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}
		j.Placement = cluster.Placement{{Node: "r-00", Resources: cluster.Resources{GPUs: 4}}}
	}))
	a := autoscaler(t, func(o *pollux.AutoscaleOptions) { small(o); o.Target, o.Least, o.Cycles = 0.9, 0, 1 })
	plan := mustPlan(t, a, s)
	if got := plan.Capacity["spot"]; got != 1 {
		t.Fatalf("%d nodes wanted, want 1", got)
	}
	s = next(s, plan)
	for i := range 2 {
		s.Jobs = append(s.Jobs, waiting(job.ID(fmt.Sprint("reserved", i)), linear(), func(j *policy.Job) {
			j.GPUs, j.Adaptivity, j.Reservation = 4, 0, cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}
		}))
	}
	if plan = mustPlan(t, a, s); fmt.Sprint(gpus(plan)) != "[4 4 4]" {
		t.Errorf("%v GPUs, want 4 each", gpus(plan))
	}
	if got := mustPlan(t, a, next(s, plan)).Capacity["spot"]; got != 3 {
		t.Errorf("%d nodes wanted, want 3", got)
	}
}

// Reservations that wait for nodes have enough for all of them.
func TestReservationsAreSummed(t *testing.T) {
	s := rented(t, 0)
	for i := range 3 {
		s.Jobs = append(s.Jobs, waiting(job.ID(fmt.Sprint(i)), linear(), func(j *policy.Job) {
			j.GPUs, j.Adaptivity, j.Reservation = 6, 0, cluster.Configuration{Nodes: 2, GPUs: 6, GPUType: "v100"}
			j.Perf = &curve{speed: []float64{0, 1, 1}} // for its efficiency alone it would have the least nodes
		}))
	}
	if got := mustPlan(t, autoscaler(t, small), s).Capacity["spot"]; got != 5 {
		t.Errorf("%d nodes wanted for 18 GPUs, want 5", got)
	}
}

// trade returns the snapshot a minute after a plan was carried out: rented nodes have come, or
// gone, the last first, but those that jobs are on.
func trade(t testing.TB, s *policy.Snapshot, plan *policy.Plan) *policy.Snapshot {
	t.Helper()
	n, used, want := next(s, plan), make(map[cluster.NodeID]bool), plan.Capacity["spot"]
	for _, j := range n.Jobs {
		for _, share := range j.Placement {
			used[share.Node] = true
		}
	}
	nodes := slices.Clone(s.Cluster.Nodes())
	for i := len(nodes) - 1; i >= 0 && len(nodes) > want; i-- {
		if !used[nodes[i].ID] {
			nodes = slices.Delete(nodes, i, i+1)
		}
	}
	for i := 0; len(nodes) < want; i++ {
		node := s.Rentals[0].Node
		node.ID = cluster.NodeID(fmt.Sprintf("r-%02d-%d", n.Round, i))
		nodes = append(nodes, node)
	}
	var err error
	if n.Cluster, err = cluster.New(nodes); err != nil {
		t.Fatal(err)
	}
	n.Rentals = slices.Clone(s.Rentals)
	n.Rentals[0].Ready = len(nodes)
	return n
}

// Over rounds in which the cluster grows and shrinks to two thirds and back, nobody moves
// who could stay: all have the most GPUs they may.
func TestNobodyMovesThatCanStay(t *testing.T) {
	jobs := singles(60)
	for _, j := range jobs {
		j.RestartOverhead = 30 * time.Second
	}
	s, a, moved := rented(t, 5), autoscaler(t, small), 0
	sizes := make(map[int]bool)
	for round := range 24 {
		switch round {
		case 0, 12:
			s.Jobs = append(s.Jobs, jobs[:30]...)
			jobs = jobs[30:]
		case 6, 18:
			for i := range 10 {
				s.Jobs[i] = s.Jobs[3*i]
			}
			s.Jobs = s.Jobs[:10]
		}
		plan, used := mustPlan(t, a, s), make(map[cluster.NodeID]bool)
		for i := range plan.Jobs {
			for _, share := range plan.Jobs[i].Placement {
				used[share.Node] = true
			}
		}
		for i, j := range s.Jobs {
			if j.Holding() && !plan.Jobs[i].Placement.SameGPUs(j.Placement) {
				if moved++; used[j.Placement[0].Node] {
					t.Errorf("round %d: job %s moves from %v to %v", round, j.ID, j.Placement, plan.Jobs[i].Placement)
				}
			}
		}
		s = trade(t, s, plan)
		sizes[len(s.Cluster.Nodes())] = true
	}
	if !sizes[4] || !sizes[13] || moved == 0 {
		t.Errorf("clusters of %v nodes, %d moves, want 4 and 13 among them, and some moves", sizes, moved)
	}
}
