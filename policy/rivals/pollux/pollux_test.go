package pollux

import (
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
)

func nodes(t rapid.TB, sizes ...string) *cluster.Cluster {
	t.Helper()
	var all []cluster.Node
	for i, s := range sizes {
		gpu, size, _ := strings.Cut(s, ":")
		n := cluster.Node{ID: cluster.NodeID(fmt.Sprint(i)), GPUType: cluster.GPUType(gpu)}
		if _, err := fmt.Sscan(size, &n.Capacity.GPUs); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCut(t *testing.T) {
	got := ""
	for _, s := range cut(nodes(t, "a:4", "b:8", "b:6")) {
		got += fmt.Sprint(s)
	}
	want := "{0 0 4 true}{1 1 4 false}{1 1 4 true}{2 1 4 false}{2 1 2 true}"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("virtual nodes (-want +got):\n%s", diff)
	}
}

func TestReallocFactor(t *testing.T) {
	for _, test := range []struct {
		age      time.Duration
		restarts int
		want     float64
	}{
		{0, 0, 0},
		{-time.Second, 0, 0},
		{60 * time.Second, 0, 60.0 / 90},
		{60 * time.Second, 1, 30.0 / 90},
		{60 * time.Second, 9, 0},
		{time.Hour, 2, 3540.0 / 3630},
	} {
		if got := reallocFactor(test.age, test.restarts, 30*time.Second); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("age %v, %d restarts: %v, want %v", test.age, test.restarts, got, test.want)
		}
	}
}

// typed is as fast as it has GPUs, times its GPU type's factor.
type typed map[cluster.GPUType]float64

func (m typed) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	return float64(a.GPUs) * m[a.GPUType]
}
func (typed) Efficiency(float64) float64 { return 1 }

// speeds is a model by GPUs, slower by a factor on more than one node.
type speeds struct {
	by    []float64
	apart float64
}

func (m *speeds) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	if a.Nodes > 1 {
		return m.by[a.GPUs] * m.apart
	}
	return m.by[a.GPUs]
}
func (*speeds) Efficiency(float64) float64 { return 1 }

func roundOf(t testing.TB, c *cluster.Cluster, jobs ...*policy.Job) *round {
	t.Helper()
	p, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	r := p.newRound(&policy.Snapshot{Now: time.Unix(1e9, 0), Length: time.Minute, Cluster: c, Jobs: jobs}, p.last.on(c))
	r.pin()
	r.lineUp()
	return r
}

func adaptive(id string) *policy.Job {
	spec := &job.Spec{ID: job.ID(id), Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 8, Max: 64}}
	return &policy.Job{Spec: spec, Limits: &spec.Batch, Status: job.Status{Phase: job.Waiting, Submitted: time.Unix(1e9-3600, 0), MaxGPUs: 8}}
}

// holding returns a job that holds so many GPUs of node 1, of type v100.
func holding(id string, gpus int) *policy.Job {
	j := adaptive(id)
	j.Phase, j.Allocation.Configuration = job.Running, cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "v100"}
	j.Placement = cluster.Placement{{Node: "1", Resources: cluster.Resources{GPUs: gpus}}}
	return j
}

// TestBase lays what two jobs hold of a node onto its virtual nodes, on which a third job
// may be pinned: no virtual node carries more than it has.
func TestBase(t *testing.T) {
	for _, test := range []struct {
		name    string
		granted [2][]int
		pinned  int
		want    [2][]int
	}{
		{"as granted", [2][]int{{0, 0, 4}, {0, 4, 0}}, 0, [2][]int{{0, 0, 4}, {0, 4, 0}}},
		{"one unknown", [2][]int{{0, 4, 0}, nil}, 0, [2][]int{{0, 4, 0}, {0, 0, 4}}},
		{"one is pinned there", [2][]int{{0, 4, 0}, {0, 0, 2}}, 2, [2][]int{{0, 0, 4}, {0, 2, 0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b, pinned := holding("a", 4), holding("b", 4-test.pinned), holding("pinned", test.pinned)
			a.Since, b.Since = time.Unix(1e9-1, 0), time.Unix(1e9-60, 0) // so a has its row first
			pinned.NonPreemptive = true
			p, err := New(DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			s := &policy.Snapshot{Now: time.Unix(1e9, 0), Length: time.Minute, Cluster: nodes(t, "v100:4", "v100:8"), Jobs: []*policy.Job{a, b}}
			if test.pinned > 0 {
				s.Jobs = append(s.Jobs, pinned)
			}
			m := p.last.on(s.Cluster)
			m.granted["a"], m.granted["b"] = test.granted[0], test.granted[1]
			r := p.newRound(s, m)
			r.pin()
			r.lineUp()
			got := [2][]int{r.seats[0].base, r.seats[1].base}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFairShareOfReplica has a job with more GPUs a replica than its share of the cluster,
// among jobs as many as GPUs: its fair share is one replica.
func TestFairShareOfReplica(t *testing.T) {
	var jobs []*policy.Job
	for i := range 8 {
		j := adaptive(fmt.Sprint(i))
		j.Perf = typed{"v100": 3}
		jobs = append(jobs, j)
	}
	jobs[0].GPUsPerReplica = map[cluster.GPUType]int{"v100": 4}
	if got := roundOf(t, nodes(t, "v100:8"), jobs...).seats[0].speedup(1, 4); got != 1 {
		t.Errorf("speedup on 4 GPUs is %v, want 1", got)
	}
}

// TestReserve grants 3 GPUs on so many nodes, of four with 0, 1, 2 and 4 GPUs free.
func TestReserve(t *testing.T) {
	for _, test := range []struct {
		nodes int
		why   policy.Kind
		want  []int
	}{
		{0, policy.Impossible, nil},
		{1, policy.Reserved, []int{0, 0, 0, 3}},
		{2, policy.Reserved, []int{0, 1, 2, 0}},
		{3, policy.Reserved, []int{0, 1, 1, 1}},
		{4, policy.Impossible, nil},
	} {
		t.Run(fmt.Sprint(test.nodes, " nodes"), func(t *testing.T) {
			c := nodes(t, "v100:4", "v100:4", "v100:4", "v100:4")
			r := roundOf(t, c)
			copy(r.free, []int{0, 1, 2, 4})
			r.s.Jobs, r.plan.Jobs = []*policy.Job{adaptive("a")}, make([]policy.Decision, 1)
			r.s.Jobs[0].Reservation = cluster.Configuration{Nodes: test.nodes, GPUs: 3, GPUType: "v100"}
			r.reserve(0)
			d := &r.plan.Jobs[0]
			if d.Why.Kind != test.why || d.Allocation.Nodes != len(d.Placement) {
				t.Errorf("%v, on %v, want %v", d.Why.Kind, d.Placement, test.why)
			}
			got := make([]int, len(r.slots))
			for _, share := range d.Placement {
				n, _ := c.Index(share.Node)
				got[n] = share.GPUs
			}
			if test.want != nil && !cmp.Equal(test.want, got) {
				t.Errorf("GPUs by node %v, want %v", got, test.want)
			}
		})
	}
}

// TestTrim leaves a job the type it has most of. Source: Sia §3.4.3.
func TestTrim(t *testing.T) {
	for _, test := range []struct {
		name      string
		row, want []int
	}{
		{"most", []int{1, 4, 2, 0}, []int{1, 4, 0, 0}},
		{"more of the other", []int{1, 0, 2, 3}, []int{0, 0, 2, 3}},
		{"as many: the faster", []int{2, 1, 0, 3}, []int{0, 0, 0, 3}},
		{"none", []int{0, 0, 0, 0}, []int{0, 0, 0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := adaptive("a")
			j.Perf = typed{"t4": 1, "a100": 5}
			roundOf(t, nodes(t, "t4:4", "t4:4", "a100:4", "a100:4"), j).trim(test.row)
			if diff := cmp.Diff(test.want, test.row); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSearchAgainstBruteForce compares the search with every matrix there is.
func TestSearchAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []*policy.Job
		for i := range rapid.IntRange(1, 3).Draw(rt, "jobs") {
			j, m := adaptive(fmt.Sprint(i)), &speeds{by: []float64{0}, apart: rapid.SampledFrom([]float64{1, 0.8, 0.5}).Draw(rt, "apart")}
			for range 8 {
				m.by = append(m.by, m.by[len(m.by)-1]+rapid.SampledFrom([]float64{1, 2, 0.25}).Draw(rt, "more"))
			}
			j.Perf = m
			jobs = append(jobs, j)
		}
		r := roundOf(t, nodes(t, "v100:2", "v100:2"), jobs...)
		best := r.fitness(r.search(t.Context()))
		if most := r.everything(make([]int, len(jobs)*2), 0); best < most-1e-12 {
			rt.Fatalf("fitness %v, want %v", best, most)
		}
	})
}

// everything returns the greatest fitness of the matrices that begin as x does up to
// element i and that repair leaves as they are.
func (r *round) everything(x []int, i int) float64 {
	if i == len(x) {
		mended := append([]int(nil), x...)
		if r.repair(mended, nil); !cmp.Equal(mended, x) {
			return math.Inf(-1)
		}
		return r.fitness(x)
	}
	most := math.Inf(-1)
	for v := range 3 {
		x[i] = v
		most = max(most, r.everything(x, i+1))
	}
	x[i] = 0
	return most
}

func TestOptions_Validate(t *testing.T) {
	_, err := New(Options{Growth: math.Inf(1), Patience: -1})
	want := "pollux: p 0, want -10 to 10 and not 0\ngrowth +Inf, want 1 to 1e+06\npopulation 0, want 2 to 10000\n" +
		"generations 0, want 1 to 10000\npatience -1, want at least 0"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestFirstTypeSeenWins follows a job over GPU types: it is taken to be as fast on any
// as on the first it ran on.
func TestFirstTypeSeenWins(t *testing.T) {
	types, b, j := nodes(t, "t4:4", "a100:4", "rtx:4").Types(), &belief{}, adaptive("a")
	j.Perf = &typed{"t4": 1, "a100": 5, "rtx": 3}
	for _, step := range []struct {
		holds cluster.GPUType
		want  float64
	}{{"", 2}, {"a100", 10}, {"t4", 10}, {"", 10}} {
		row := *j
		if step.holds != "" {
			row.Phase, row.Allocation.Configuration = job.Running, cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: step.holds}
		}
		b.refresh(&row, types)
		if got := b.at(&row, 1, 2); got != step.want {
			t.Errorf("holding %q: goodput of 2 GPUs is %v, want %v", step.holds, got, step.want)
		}
	}
}

// The harmonic mean has no powers, and is the same number to the last bit.
func TestPower_of_the_harmonic_mean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-3, 1e9).Draw(t, "x")
		if got, want := power(x, -1), math.Pow(x, -1); got != want {
			t.Fatalf("%v to the power of -1 is %v, want %v", x, got, want)
		}
	})
}

func (typed) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

func (*speeds) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
