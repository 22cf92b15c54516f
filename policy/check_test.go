package policy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// testCluster has three 4-GPU t4 nodes and two 8-GPU a100 nodes.
func testCluster(t testing.TB) *cluster.Cluster {
	t.Helper()
	var nodes []cluster.Node
	for i := range 5 {
		n := cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}
		if i >= 3 {
			n.GPUType, n.Capacity.GPUs = "a100", 8
		}
		nodes = append(nodes, n)
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func grant(nodes, gpus int, t cluster.GPUType) cluster.Allocation {
	return cluster.Allocation{Configuration: cluster.Configuration{Nodes: nodes, GPUs: gpus, GPUType: t}}
}

func share(n cluster.NodeID, gpus int) cluster.Share {
	return cluster.Share{Node: n, Resources: cluster.Resources{GPUs: gpus}}
}

type planned struct {
	s *policy.Snapshot
	p *policy.Plan
}

// goodPlan returns a plan that keeps every rule, with one job of each kind.
func goodPlan(t testing.TB) planned {
	specs := []job.Spec{
		{ID: "adaptive", Adaptivity: job.Adaptive, MaxGPUs: 8, BatchSize: 64, Batch: job.BatchLimits{
			Init: 32, Max: 512, LocalMin: 4, LocalMax: map[cluster.GPUType]int{"t4": 16, "a100": 64},
		}},
		{ID: "rigid", Adaptivity: job.Rigid, GPUs: 3, BatchSize: 48, Batch: job.BatchLimits{Init: 48, Max: 48}},
		{ID: "fixed", GPUs: 2, GPUTypes: []cluster.GPUType{"t4"}},
		{ID: "pipeline", Adaptivity: job.StrongScaling, GPUsPerReplica: map[cluster.GPUType]int{"a100": 2}},
		{ID: "pinned", Adaptivity: job.Adaptive, NonPreemptive: true},
		{ID: "reserved", Reservation: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}},
		{ID: "profiling", Adaptivity: job.Adaptive},
		{ID: "least", Adaptivity: job.Adaptive, MinGPUs: 2},
	}
	s := &policy.Snapshot{Cluster: testCluster(t)}
	for i := range specs {
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &specs[i], Status: job.Status{Phase: job.Waiting}})
	}
	s.Jobs[4].Phase, s.Jobs[4].Allocation = job.Running, grant(1, 1, "t4")
	s.Jobs[4].Placement = cluster.Placement{share("n2", 1)}
	s.Jobs[2].Phase, s.Jobs[2].Allocation = job.Running, grant(1, 2, "t4")
	s.Jobs[6].Phase = job.Profiling
	p := &policy.Plan{Jobs: []policy.Decision{
		{Allocation: grant(1, 4, "a100"), Placement: cluster.Placement{share("n3", 4)}, Batch: job.BatchSize{Local: 64, Accumulation: 1}},
		{Allocation: grant(1, 3, "t4"), Placement: cluster.Placement{share("n0", 2), share("n1", 1)}, Batch: job.BatchSize{Local: 16}},
		{Allocation: grant(1, 2, "t4")},
		{Allocation: grant(1, 6, "a100")},
		{Allocation: grant(1, 1, "t4"), Placement: cluster.Placement{share("n2", 1)}},
		{Allocation: grant(1, 2, "t4")},
		{Why: policy.Reason{Kind: policy.WaitProfile}},
		{Allocation: grant(1, 2, "a100")},
	}}
	return planned{s, p}
}

func TestCheckAcceptsAGoodPlan(t *testing.T) {
	w := goodPlan(t)
	if err := policy.Check(w.s, w.p); err != nil {
		t.Fatal(err)
	}
}

// wantNodes offers two nodes of group g and wants nodes of a group.
func wantNodes(s *policy.Snapshot, p *policy.Plan, g cluster.Group, n int) {
	s.Rentals = []cluster.Rental{{Offer: cluster.Offer{Group: "g", Most: 2}}}
	p.Capacity = map[cluster.Group]int{g: n}
}

// lend makes n4, on which nobody is, and n1, on which the job "rigid" is, nodes on loan of
// a group of which one more is spare; n4 goes back.
func lend(t testing.TB, w planned) {
	t.Helper()
	nodes := slices.Clone(w.s.Cluster.Nodes())
	for _, i := range []int{1, 4} {
		nodes[i].Tenure, nodes[i].Group = cluster.Loaned, "l"
	}
	var err error
	if w.s.Cluster, err = cluster.New(nodes); err != nil {
		t.Fatal(err)
	}
	w.s.Loans = []cluster.Loan{{Group: "l", Nodes: 9, Lent: 2, Spare: 1}}
	w.p.Capacity, w.p.Return = map[cluster.Group]int{"l": 3}, []cluster.NodeID{"n4"}
}

func TestCheckAcceptsLoans(t *testing.T) {
	w := goodPlan(t)
	if lend(t, w); policy.Check(w.s, w.p) != nil {
		t.Errorf("got %v", policy.Check(w.s, w.p))
	}
}

func TestCheckCatchesSeededBugsOfLoans(t *testing.T) {
	for name, test := range map[string]struct {
		bug  func(w planned)
		want string
	}{
		"more wanted than are lent and spare": {func(w planned) { w.p.Capacity["l"] = 4 }, "group l: 4 nodes wanted, want 0 to 3"},
		"less than none wanted":               {func(w planned) { w.p.Capacity["l"] = -1 }, "group l: -1 nodes wanted, want 0 to 3"},
		"an unknown group":                    {func(w planned) { w.p.Capacity["m"] = 1 }, "plan: 1 of the groups with wanted nodes can be neither rented nor lent"},
		"a node that is owned goes back": {func(w planned) {
			w.p.Jobs[1].Placement = cluster.Placement{share("n1", 3)}
			w.p.Return[0] = "n0"
		}, "node n0: returned, want only nodes on loan or rented"},
		"a node that is not there goes back": {func(w planned) { w.p.Return[0] = "n9" }, "node n9: returned, want only nodes on loan or rented"},
		"a node with a job on it goes back":  {func(w planned) { w.p.Return[0] = "n1" }, "node n1: returned, want no node with a job"},
		"a node goes back twice": {func(w planned) {
			w.p.Return = []cluster.NodeID{"n4", "n4"}
		}, "node n4: returned after n4, want each node once, in ascending order"},
		"not in order": {func(w planned) {
			w.p.Jobs[1].Placement = cluster.Placement{share("n0", 3)}
			w.p.Return = []cluster.NodeID{"n4", "n1"}
		}, "node n1: returned after n4, want each node once, in ascending order"},
		"a reservation that has room on the others": {func(w planned) {
			w.s.Jobs[5].Spec.Reservation = cluster.Configuration{Nodes: 1, GPUs: 8, GPUType: "a100"}
			w.p.Jobs[5] = policy.Decision{}
		}, "job reserved: allocated nothing, want its reservation (1, 8, a100)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := goodPlan(t)
			lend(t, w)
			test.bug(w)
			if err := policy.Check(w.s, w.p); err == nil || err.Error() != test.want {
				t.Fatalf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestCheckAcceptsNodesThatAreOffered(t *testing.T) {
	w := goodPlan(t)
	if wantNodes(w.s, w.p, "g", 2); policy.Check(w.s, w.p) != nil {
		t.Errorf("got %v", policy.Check(w.s, w.p))
	}
}

// TestCheckCatchesSeededBugs breaks each rule once and wants exactly the
// complaint of that rule.
func TestCheckCatchesSeededBugs(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name string
		bug  func(s *policy.Snapshot, p *policy.Plan)
		want string
	}{
		{"missing decision", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs = p.Jobs[1:] }, "plan: 7 decisions, want 8: one per job"},
		{"NaN in a reason", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0].Why.Value = nan }, "job adaptive: 0 CPUs, reason with NaN and 0, want finite numbers"},
		{"infinite CPUs", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0].Allocation.CPUs = math.Inf(1) }, "job adaptive: +Inf CPUs, reason"},
		{"NaN price", func(_ *policy.Snapshot, p *policy.Plan) { p.Prices = []policy.TypePrice{{Type: "t4", Price: nan}} }, "GPU type t4: prices NaN, 0 of a core and 0 of memory, want finite numbers"},
		{"NaN objective", func(_ *policy.Snapshot, p *policy.Plan) { p.Stats.Objective = nan }, "plan: objective NaN, bound 0, gap 0"},
		{"NaN CPUs in a share", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0].Placement[0].CPUs = nan }, "job adaptive: node n3: share of 4 GPUs, NaN CPUs"},
		{"profiling job runs", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[6].Allocation = grant(1, 1, "t4") }, "job profiling: allocated (1, 1, t4), want nothing while it is being profiled"},
		{"negative GPUs", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[7].Allocation.GPUs = -1 }, "job least: allocated -1 GPUs"},
		{"type without GPUs", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[7].Allocation.GPUs = 0 }, "job least: allocated or placed"},
		{"placement without GPUs", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[6].Placement = cluster.Placement{share("n0", 1)} }, "job profiling: allocated or placed"},
		{"unknown type", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[7].Allocation.GPUType = "v100" }, `job least: GPU type "v100" is not in the cluster`},
		{"ineligible type", func(s *policy.Snapshot, p *policy.Plan) {
			s.Jobs[7].Spec.GPUTypes = []cluster.GPUType{"t4"}
		}, "job least: GPU type a100 is not eligible"},
		{"no nodes", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[7].Allocation.Nodes = 0 }, "job least: configuration (0, 2, a100), want 1 to 2 nodes with 1 to 8 GPUs each"},
		{"more nodes than there are", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[7].Allocation = grant(3, 3, "a100") }, "job least: configuration (3, 3, a100)"},
		{"too few nodes", func(_ *policy.Snapshot, p *policy.Plan) {
			p.Jobs[7].Allocation = grant(1, 9, "a100")
			p.Jobs[0], p.Jobs[3] = policy.Decision{}, policy.Decision{}
		}, "job least: configuration (1, 9, a100)"},
		{"capacity of a type", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[3].Allocation = grant(2, 12, "a100") }, "GPU type a100: allocated 18 GPUs, want at most 16"},
		{"capacity of a node", func(_ *policy.Snapshot, p *policy.Plan) {
			p.Jobs[2].Placement = cluster.Placement{share("n0", 2)}
			p.Jobs[5].Placement = cluster.Placement{share("n0", 2)}
		}, "job reserved: node n0: 6 GPUs in use, want at most 4"},
		{"capacity of a node, with a job that stays", func(s *policy.Snapshot, p *policy.Plan) {
			s.Jobs[2].Placement = cluster.Placement{share("n0", 2)}
			p.Jobs[2].Placement = s.Jobs[2].Placement
			p.Jobs[5].Placement = cluster.Placement{share("n0", 2)}
		}, "job fixed: node n0: 6 GPUs in use, want at most 4"},
		{"unknown node", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0].Placement[0].Node = "n9" }, "job adaptive: node n9 is not in the cluster"},
		{"node of another type", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0].Placement[0].Node = "n2" }, "job adaptive: node n2 has GPU type t4, want a100"},
		{"node named twice", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[1].Placement[1].Node = "n0" }, "job rigid: node n0 after n0, want each node once, in ascending order"},
		{"empty share", func(_ *policy.Snapshot, p *policy.Plan) {
			p.Jobs[1].Placement = cluster.Placement{share("n0", 3), share("n1", 0)}
		}, "job rigid: node n1: share of 0 GPUs"},
		{"placement too small", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0].Placement[0].GPUs = 3 }, "job adaptive: placed 3 GPUs, want the 4 allocated"},
		{"below the least", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[7].Allocation.GPUs = 1 }, "job least: allocated 1 GPUs, want at least 2"},
		{"above the most", func(s *policy.Snapshot, _ *policy.Plan) { s.Jobs[0].Spec.MaxGPUs = 3 }, "job adaptive: allocated 4 GPUs, want at most 3"},
		{"half a replica", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[3].Allocation.GPUs = 5 }, "job pipeline: allocated 5 GPUs, want a multiple of 2: whole replicas"},
		{"rigid job shrunk", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[2].Allocation.GPUs = 1 }, "job fixed: allocated 1 GPUs, want exactly 2"},
		{"type changed", func(s *policy.Snapshot, p *policy.Plan) {
			s.Jobs[2].Spec.GPUTypes = nil
			p.Jobs[2].Allocation.GPUType = "a100"
		}, "job fixed: allocated GPU type a100, want t4, which it holds"},
		{"non-preemptive job preempted", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[4] = policy.Decision{} }, "job pinned: allocated (none) with 0 CPUs and 0 bytes, want what it holds, (1, 1, t4) with 0 and 0: it is non-preemptive"},
		{"non-preemptive job grown", func(_ *policy.Snapshot, p *policy.Plan) {
			p.Jobs[4] = policy.Decision{Allocation: grant(1, 2, "t4")}
		}, "job pinned: allocated (1, 2, t4) with 0 CPUs"},
		{"non-preemptive job loses CPUs", func(s *policy.Snapshot, _ *policy.Plan) {
			s.Jobs[4].Allocation.CPUs = 2
		}, "job pinned: allocated (1, 1, t4) with 0 CPUs and 0 bytes, want what it holds, (1, 1, t4) with 2 and 0"},
		{"non-preemptive job moved", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[4].Placement[0].Node = "n0" }, "job pinned: placed on"},
		{"reservation shrunk", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[5].Allocation.GPUs = 1 }, "job reserved: allocated (1, 1, t4), want its reservation (1, 2, t4)"},
		{"reservation forgotten", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[5] = policy.Decision{} }, "job reserved: allocated nothing, want its reservation (1, 2, t4)"},
		{"local batch too large", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0].Batch.Local = 65 }, "job adaptive: local batch 65, want at most 64 on a100"},
		{"local batch too small", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0].Batch.Local = 3 }, "job adaptive: local batch 3, want at least 4"},
		{"batch too large", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0].Batch.Accumulation = 2 }, "job adaptive: batch of 768 samples, want at most 512"},
		{"fixed batch changed", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[1].Batch.Local = 17 }, "job rigid: batch of 51 samples, want the submitted 48"},
		{"more nodes wanted than are offered", func(s *policy.Snapshot, p *policy.Plan) { wantNodes(s, p, "g", 3) }, "group g: 3 nodes wanted, want 0 to 2"},
		{"less than no nodes wanted", func(s *policy.Snapshot, p *policy.Plan) { wantNodes(s, p, "g", -1) }, "group g: -1 nodes wanted, want 0 to 2"},
		{"nodes wanted of an unknown group", func(s *policy.Snapshot, p *policy.Plan) { wantNodes(s, p, "h", 1) }, "plan: 1 of the groups with wanted nodes can be neither"},
		{"batch of nothing", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[1].Batch.Local = -1 }, "job rigid: batch of -1 samples"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := goodPlan(t)
			test.bug(w.s, w.p)
			err := policy.Check(w.s, w.p)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Fatalf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestCheckJoinsAllComplaints(t *testing.T) {
	w := goodPlan(t)
	w.p.Jobs[3].Allocation.GPUs = 5
	w.p.Jobs[2].Allocation.GPUs = 1
	if got := strings.Count(policy.Check(w.s, w.p).Error(), "\n"); got != 1 {
		t.Fatalf("%d line breaks, want 1 between two complaints", got)
	}
}

func TestCheckLetsAReservationWait(t *testing.T) {
	t.Run("without room beside what is pinned", func(t *testing.T) {
		w := goodPlan(t)
		w.s.Jobs[5].Spec.Reservation = cluster.Configuration{Nodes: 3, GPUs: 12, GPUType: "t4"}
		w.p.Jobs[5] = policy.Decision{}
		if err := policy.Check(w.s, w.p); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("without room on the nodes that do not go back", func(t *testing.T) {
		w := goodPlan(t)
		lend(t, w)
		w.s.Jobs[5].Spec.Reservation = cluster.Configuration{Nodes: 1, GPUs: 9, GPUType: "a100"}
		w.p.Jobs[5] = policy.Decision{}
		if err := policy.Check(w.s, w.p); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("beside one whose placement was taken back", func(t *testing.T) {
		w := goodPlan(t)
		w.s.Jobs[7].Spec.Reservation = cluster.Configuration{Nodes: 3, GPUs: 11, GPUType: "t4"}
		w.p.Jobs[5], w.p.Jobs[7] = policy.Decision{}, policy.Decision{Why: policy.Reason{Kind: policy.Evicted}}
		if err := policy.Check(w.s, w.p); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("when its placement was taken back", func(t *testing.T) {
		w := goodPlan(t)
		w.p.Jobs[5] = policy.Decision{Why: policy.Reason{Kind: policy.Evicted}}
		if err := policy.Check(w.s, w.p); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkCheck checks a plan of 500 jobs on 440 nodes.
func BenchmarkCheck(b *testing.B) {
	for _, placed := range []string{"nobody", "as before", "anew"} {
		b.Run(fmt.Sprintf("jobs=500/placed=%s", placed), func(b *testing.B) {
			s, p := bigRound(b)
			for i := range p.Jobs {
				switch {
				case placed == "as before" && i > 0: // but for one
					p.Jobs[i].Placement = s.Jobs[i].Placement
				case placed != "nobody":
					p.Jobs[i].Placement = slices.Clone(s.Jobs[i].Placement)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := policy.Check(s, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func bigRound(b *testing.B) (*policy.Snapshot, *policy.Plan) {
	var nodes []cluster.Node
	for i := range 440 {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("node-%03d", i)), GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		b.Fatal(err)
	}
	s, p := &policy.Snapshot{Cluster: c}, &policy.Plan{}
	for i := range 500 {
		j := &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprintf("j%d", i)), GPUs: 4, Adaptivity: job.Rigid}}
		j.Phase, j.Allocation = job.Running, grant(1, 4, "a100")
		j.Placement = cluster.Placement{share(nodes[i/2].ID, 4)}
		s.Jobs, p.Jobs = append(s.Jobs, j), append(p.Jobs, policy.Decision{Allocation: j.Allocation})
	}
	return s, p
}

// CPUs and memory of a type are those of its nodes.
func TestCheck_counts_CPUs_and_memory(t *testing.T) {
	node := cluster.Node{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4, CPUs: 8, Memory: 100}}
	c, err := cluster.New([]cluster.Node{node})
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Cluster: c}
	for _, id := range []job.ID{"a", "b"} {
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: id, GPUs: 2}, Status: job.Status{Phase: job.Waiting}})
	}
	for want, second := range map[string]cluster.Resources{
		"": {CPUs: 4, Memory: 50},
		"GPU type t4: allocated 9 CPUs and 100 bytes, want at most 8 and 100": {CPUs: 5, Memory: 50},
		"GPU type t4: allocated 8 CPUs and 101 bytes, want at most 8 and 100": {CPUs: 4, Memory: 51},
	} {
		p := &policy.Plan{}
		for _, r := range []cluster.Resources{{CPUs: 4, Memory: 50}, second} {
			a := grant(1, 2, "t4")
			a.CPUs, a.Memory = r.CPUs, r.Memory
			p.Jobs = append(p.Jobs, policy.Decision{Allocation: a})
		}
		if err := policy.Check(s, p); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
