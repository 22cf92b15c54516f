package reclaim_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// A figure5 is the paper's example: GPUs of jobs on servers, and what it says of them.
type figure5 struct {
	Jobs   map[job.ID]map[string]int `json:"jobs"`
	Table1 struct {
		Jobs   map[string]float64 `json:"running_jobs"`
		GPU    map[string]float64 `json:"gpu_fraction_sum"`
		Server map[string]float64 `json:"server_fraction_sum"`
	} `json:"table1"`
	Optimal map[string]int              `json:"optimal_preemptions_by_demand"`
	Unique  map[string][]cluster.NodeID `json:"-"`
	Raw     map[string][]int            `json:"unique_optimum"`
}

// readFigure5 reads the golden values and builds the servers "1" to "6".
func readFigure5(t testing.TB) (*figure5, []reclaim.Server) {
	t.Helper()
	text, err := os.ReadFile(testdata.Path(t, "traces/golden_lyra.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Reclaim figure5 `json:"reclaim_fig5"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	var servers []reclaim.Server
	for i := range 6 {
		id := strconv.Itoa(i + 1)
		s := reclaim.Server{ID: cluster.NodeID(id)}
		for _, j := range slices.Sorted(maps.Keys(all.Reclaim.Jobs)) {
			if gpus := all.Reclaim.Jobs[j][id]; gpus > 0 {
				s.Holdings = append(s.Holdings, reclaim.Share{Job: j, GPUs: gpus})
			}
		}
		servers = append(servers, s)
	}
	return &all.Reclaim, servers
}

func with(rule reclaim.Rule) reclaim.Options {
	o := reclaim.DefaultOptions()
	o.Rule = rule
	return o
}

// choose fails the test on an error.
func choose(t testing.TB, servers []reclaim.Server, n int, o reclaim.Options) *reclaim.Answer {
	t.Helper()
	a, err := reclaim.Choose(servers, n, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// "Different definitions of server preemption cost for the reclaiming example in Figure 5."
// Source: Lyra §4, Table 1.
func TestPaper_Table_1(t *testing.T) {
	golden, servers := readFigure5(t)
	gpu, server := reclaim.GPUFractions(servers), reclaim.ServerFractions(servers)
	for i, s := range servers {
		want := []float64{golden.Table1.Jobs[string(s.ID)], golden.Table1.GPU[string(s.ID)], golden.Table1.Server[string(s.ID)]}
		got := []float64{float64(len(s.Holdings)), gpu[i], server[i]}
		if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); d != "" {
			t.Errorf("server %s: jobs, GPU fraction, server fraction -want +got\n%s", s.ID, d)
		}
	}
}

// Source: Lyra §4, Fig. 5, all demands.
func TestPaper_Fig_5_exact(t *testing.T) {
	golden, servers := readFigure5(t)
	if len(golden.Optimal) != 6 || len(golden.Raw) != 2 {
		t.Fatalf("golden values: %d optima, %d unique", len(golden.Optimal), len(golden.Raw))
	}
	for n := range 7 {
		a := choose(t, servers, n, reclaim.DefaultOptions())
		if want := golden.Optimal[strconv.Itoa(n)]; len(a.Preempted) != want || a.Bound != want || !a.Proven {
			t.Errorf("%d servers: %d preempted, bound %d, proven %t, want %d", n, len(a.Preempted), a.Bound, a.Proven, want)
		}
		for i, want := range golden.Raw[strconv.Itoa(n)] {
			if string(a.Servers[i]) != strconv.Itoa(want) {
				t.Errorf("%d servers: %v, want %v", n, a.Servers, golden.Raw[strconv.Itoa(n)])
			}
		}
	}
}

// "Suppose we need to reclaim two servers. Servers 1 and 2 are obviously the optimal choice
// with one preemption." Source: Lyra §4.
func TestPaper_Fig_5_greedy(t *testing.T) {
	_, servers := readFigure5(t)
	tests := []struct {
		name string
		n    int
		want *reclaim.Answer
	}{
		{"one is enumerated, and server 3 frees nothing else", 1, &reclaim.Answer{Servers: []cluster.NodeID{"3"}, Preempted: []job.ID{"b"}}},
		{"of 1, 2, 4 and 6, which cost the same, 1 vacates a server that is wanted", 2, &reclaim.Answer{Servers: []cluster.NodeID{"1", "2"}, Preempted: []job.ID{"a"}}},
		{"then 4, which leaves 2 GPUs on server 5", 3, &reclaim.Answer{Servers: []cluster.NodeID{"1", "2", "4"}, Preempted: []job.ID{"a", "c"}, Damage: 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if d := cmp.Diff(test.want, choose(t, servers, test.n, with(reclaim.Greedy))); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// "It causes server 5 to be selected with the least cost, which actually leads to two
// preemptions." Source: Lyra §4.
func TestPaper_GPU_fractions_mislead(t *testing.T) {
	_, servers := readFigure5(t)
	costs := reclaim.GPUFractions(servers)
	if i := slices.Index(costs, slices.Min(costs)); servers[i].ID != "5" || len(servers[i].Holdings) != 2 {
		t.Errorf("server %s with %d jobs has the least GPU fractions %v, want 5 with 2", servers[i].ID, len(servers[i].Holdings), costs)
	}
}

// "Lyra can release the server group for flexible demands first without any preemption."
// Source: Lyra §5.3.
func TestPaper_flexible_group_first(t *testing.T) {
	servers := []reclaim.Server{
		{ID: "base", Holdings: []reclaim.Share{{Job: "a", GPUs: 8}}},
		{ID: "much", Holdings: []reclaim.Share{{Job: "a", GPUs: 6, Flexible: true}, {Job: "b", GPUs: 2, Flexible: true}}},
		{ID: "little", Holdings: []reclaim.Share{{Job: "b", GPUs: 2, Flexible: true}}},
		{ID: "idle"},
	}
	want := []*reclaim.Answer{
		{},
		{Servers: []cluster.NodeID{"idle"}, Free: 1},
		{Servers: []cluster.NodeID{"little", "idle"}, Free: 2, Scaled: 2},
		{Servers: []cluster.NodeID{"much", "little", "idle"}, Free: 3, Scaled: 10},
		{Servers: []cluster.NodeID{"base", "much", "little", "idle"}, Free: 3, Scaled: 4, Preempted: []job.ID{"a"}},
	}
	for n := range want {
		for _, rule := range []reclaim.Rule{reclaim.Greedy, reclaim.Exact} {
			d := cmp.Diff(want[n], choose(t, servers, n, with(rule)), cmpopts.IgnoreFields(reclaim.Answer{}, "Bound", "Proven", "Steps"))
			if d != "" {
				t.Errorf("%s, %d servers: -want +got\n%s", rule, n, d)
			}
		}
	}
}

// SCF counts the jobs of each server once, those with flexible workers too. Source: Lyra §7.1, "The top-k servers that
// host the smallest number of jobs are chosen".
func TestPaper_SCF_counts_jobs_once(t *testing.T) {
	servers := []reclaim.Server{
		{ID: "1", Holdings: []reclaim.Share{{Job: "e", GPUs: 1, Flexible: true}, {Job: "f", GPUs: 1, Flexible: true}, {Job: "g", GPUs: 1, Flexible: true}}},
		{ID: "2", Holdings: []reclaim.Share{{Job: "a", GPUs: 4}}},
		{ID: "3", Holdings: []reclaim.Share{{Job: "b", GPUs: 4}, {Job: "c", GPUs: 4}}},
		{ID: "4", Holdings: []reclaim.Share{{Job: "a", GPUs: 4}, {Job: "d", GPUs: 4}}},
	}
	want := &reclaim.Answer{Servers: []cluster.NodeID{"2", "3"}, Preempted: []job.ID{"a", "b", "c"}, Damage: 4}
	if d := cmp.Diff(want, choose(t, servers, 2, with(reclaim.SCF))); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Random does not prefer idle servers. Source: Lyra §7.1, "On-loan servers are randomly selected".
func TestPaper_random_takes_any_server(t *testing.T) {
	servers, preempted := []reclaim.Server{{ID: "busy", Holdings: []reclaim.Share{{Job: "a", GPUs: 1}}}, {ID: "idle"}}, 0
	for seed := range uint64(100) {
		o := with(reclaim.Random)
		o.Seed = seed
		preempted += len(choose(t, servers, 1, o).Preempted)
	}
	if preempted < 30 || preempted > 70 {
		t.Errorf("%d of 100 seeds take the busy server, want about 50", preempted)
	}
}

// On random placements the paper's greedy preempts up to a quarter more than needed; exact
// does not, and says so. The paper has 19 % above 60 servers. Source: Lyra §7.3.
func TestPaper_greedy_is_above_the_optimum(t *testing.T) {
	worst, ours, best := 0.0, 0, 0
	for seed := range uint64(5) {
		for _, n := range []int{34, 51, 85, 118} {
			servers := placed(170, 133, 4, seed)
			exact, greedy := choose(t, servers, n, reclaim.DefaultOptions()), choose(t, servers, n, with(reclaim.Greedy))
			if len(exact.Preempted) != exact.Bound {
				t.Errorf("seed %d, %d servers: %d preempted, bound %d", seed, n, len(exact.Preempted), exact.Bound)
			}
			ours, best = ours+len(greedy.Preempted), best+len(exact.Preempted)
			if len(exact.Preempted) >= 10 {
				worst = max(worst, float64(len(greedy.Preempted))/float64(len(exact.Preempted))-1)
			}
		}
	}
	mean := float64(ours)/float64(best) - 1
	t.Logf("greedy is %.1f %% above on average, %.0f %% at worst", 100*mean, 100*worst)
	if mean < 0.02 || mean > 0.2 || worst < 0.05 || worst > 0.5 {
		t.Errorf("greedy is %.1f %% above on average, %.0f %% at worst", 100*mean, 100*worst)
	}
}

func TestChoose_exact_takes_the_fewest_flexible_workers_where_all_else_is_equal(t *testing.T) {
	shares := func(id job.ID, flexible int) []reclaim.Share {
		return []reclaim.Share{{Job: id, GPUs: 4}, {Job: "e", GPUs: flexible, Flexible: true}}
	}
	servers := []reclaim.Server{{ID: "1", Holdings: shares("a", 3)}, {ID: "2", Holdings: shares("b", 1)}, {ID: "3", Holdings: shares("c", 2)}}
	want := &reclaim.Answer{Servers: []cluster.NodeID{"2"}, Preempted: []job.ID{"b"}, Scaled: 1, Bound: 1, Proven: true}
	d := cmp.Diff(want, choose(t, servers, 1, reclaim.DefaultOptions()), cmpopts.IgnoreFields(reclaim.Answer{}, "Steps"))
	if d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
