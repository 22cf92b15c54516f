package perf_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

func drawModel(t *rapid.T) *fitted {
	seconds := rapid.Custom(func(t *rapid.T) float64 { return math.Exp(rapid.Float64Range(-18.4, 2).Draw(t, "log seconds")) })
	return &fitted{
		perf.Params{
			AlphaC: seconds.Draw(t, "alphaC"), BetaC: seconds.Draw(t, "betaC"),
			AlphaN: seconds.Draw(t, "alphaN"), BetaN: seconds.Draw(t, "betaN"),
			AlphaR: seconds.Draw(t, "alphaR"), BetaR: seconds.Draw(t, "betaR"),
			Gamma: rapid.Float64Range(1, 10).Draw(t, "gamma"),
		},
		math.Exp(rapid.Float64Range(-5, 15).Draw(t, "log phi")),
		float64(rapid.IntRange(1, 512).Draw(t, "init")),
	}
}

func drawAllocation(t *rapid.T) cluster.Allocation {
	nodes := rapid.IntRange(1, 16).Draw(t, "nodes")
	return on(nodes, nodes*rapid.IntRange(1, 8).Draw(t, "GPUs a node"), "t4")
}

// notAbove allows for rounding.
func notAbove(a, b float64) bool { return a <= b*(1+1e-9) }

func TestModel_is_monotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, a := drawModel(t), drawAllocation(t)
		local := rapid.IntRange(1, 1024).Draw(t, "local")
		if !notAbove(m.Throughput(a, job.BatchSize{Local: local}), m.Throughput(a, job.BatchSize{Local: local + 1})) {
			t.Error("throughput falls with the local batch")
		}
		total := float64(local)
		if m.Efficiency(total+1) >= m.Efficiency(total) && m.phi < 1e5 {
			t.Error("efficiency does not fall with the batch")
		}
		if !notAbove(total*m.Efficiency(total), (total+1)*m.Efficiency(total+1)) {
			t.Error("progress a step falls with the batch")
		}
		more := *m
		more.Gamma = min(10, m.Gamma+1)
		if !notAbove(more.Step(a.Nodes, a.GPUs, total), m.Step(a.Nodes, a.GPUs, total)) {
			t.Error("a step takes longer with more overlap")
		}
	})
}

func TestStep_lies_between_the_longer_phase_and_both(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, a := drawModel(t), drawAllocation(t)
		local := float64(rapid.IntRange(1, 1024).Draw(t, "local"))
		compute, network := m.Compute(local), m.Network(a.Nodes, a.GPUs)
		step := m.Step(a.Nodes, a.GPUs, local)
		if !notAbove(max(compute, network), step) || !notAbove(step, compute+network) {
			t.Errorf("a step of %g s of compute and %g s of network takes %g s", compute, network, step)
		}
		m.Gamma = 1
		if both := m.Step(a.Nodes, a.GPUs, local); both != compute+network {
			t.Errorf("without overlap it takes %g s, want the sum %g", both, compute+network)
		}
	})
}

// Where the shorter phase adds nothing that a number could show, what Step leaves out changes no bit.
func TestStep_is_the_formula_to_the_last_bit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, a := drawModel(t), drawAllocation(t)
		if rapid.Bool().Draw(t, "one replica") {
			a = on(1, 1, "t4")
		}
		local := float64(rapid.IntRange(1, 1024).Draw(t, "local"))
		long, short, g := m.Compute(local), m.Network(a.Nodes, a.GPUs), m.Gamma
		if short > long {
			long, short = short, long
		}
		if g == 1 || short <= long*1e-9 {
			return
		}
		want := long * math.Exp(math.Log(1+math.Exp(g*math.Log(short/long)))/g)
		if got := m.Step(a.Nodes, a.GPUs, local); got != want {
			t.Errorf("a step of %g s of compute and %g s of network, overlap %g, takes %v s, want %v", long, short, g, got, want)
		}
	})
}

func TestIteration_adds_a_compute_for_each_accumulation(t *testing.T) {
	m := typical()
	for n := range 4 {
		got := m.Iteration(2, 8, job.BatchSize{Local: 32, Accumulation: n})
		if want := float64(n)*m.Compute(32) + m.Step(2, 8, 32); got != want {
			t.Errorf("%d accumulations: %g s, want %g", n, got, want)
		}
	}
}

// exhaustive is BestBatch without its short cuts: every total batch size on
// the grid, cut into the fewest passes that fit.
func exhaustive(m perf.Model, a cluster.Allocation, l *job.BatchLimits) (best float64) {
	first := max(float64(l.Init), float64(max(1, l.LocalMin)*a.GPUs))
	for i := range perf.Candidates {
		total := first * math.Pow(max(1, float64(l.Max)/first), float64(i)/(perf.Candidates-1))
		share, passes := total/float64(a.GPUs), 1
		if a.GPUs == 1 && total > float64(l.Init)+1e-8 {
			passes = 2
		}
		for share/float64(passes) > float64(l.LocalMax[a.GPUType])+1e-8 {
			passes++
		}
		b := job.BatchSize{Local: int(math.Ceil(share/float64(passes) - 1e-8)), Accumulation: passes - 1}
		if b.Local >= l.LocalMin && b.Local <= l.LocalMax[a.GPUType] {
			best = max(best, perf.Goodput(m, a, a.GPUs, b))
		}
	}
	return best
}

func TestBestBatch_agrees_with_exhaustive_search(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, a := drawModel(t), drawAllocation(t)
		l := &job.BatchLimits{Init: int(m.init), LocalMin: rapid.IntRange(1, 16).Draw(t, "least")}
		l.Max = l.Init * rapid.IntRange(1, 64).Draw(t, "max/init")
		l.LocalMax = map[cluster.GPUType]int{"t4": l.LocalMin + rapid.IntRange(0, 512).Draw(t, "most")}
		got, b := perf.BestBatch(m, a, a.GPUs, l)
		if want := exhaustive(m, a, l); !notAbove(want, got) || !notAbove(got, want) {
			t.Fatalf("goodput %g, exhaustive search finds %g", got, want)
		}
		if got == 0 {
			return
		}
		if b.Local < l.LocalMin || b.Local > l.LocalMax["t4"] || b.Accumulation < 0 {
			t.Errorf("%+v is outside %+v", b, l)
		}
		if g := perf.Goodput(m, a, a.GPUs, b); g != got {
			t.Errorf("%+v has goodput %g, not %g", b, g, got)
		}
	})
}

// flat is a model for which every batch is as good as any, but which has
// never seen local batches below least.
type flat struct{ least int }

func (f flat) Throughput(_ cluster.Allocation, b job.BatchSize) float64 {
	if b.Local < f.least {
		return 0
	}
	return 1
}

func (flat) Efficiency(float64) float64 { return 1 }

func (flat) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

func TestBestBatch_takes_the_smallest_of_equals(t *testing.T) {
	limits := &job.BatchLimits{Init: 8, Max: 1024}
	for _, least := range []int{0, 8, 100, 500} {
		got, b := perf.BestBatch(flat{least}, on(1, 2, "t4"), 2, limits)
		if got != 1 || b.Local < least || b.Local > max(4, least*11/10) {
			t.Errorf("least %d: goodput %g with %+v", least, got, b)
		}
	}
	if got, b := perf.BestBatch(flat{2000}, on(1, 2, "t4"), 2, limits); got != 0 || b != (job.BatchSize{}) {
		t.Errorf("goodput %g with %+v where nothing runs", got, b)
	}
}

func TestBestBatch_without_a_batch_that_fits(t *testing.T) {
	limits := &job.BatchLimits{Init: 8, Max: 1024, LocalMin: 16, LocalMax: map[cluster.GPUType]int{"t4": 8}}
	if got, b := perf.BestBatch(typical(), on(1, 2, "t4"), 2, limits); got != 0 || b != (job.BatchSize{}) {
		t.Errorf("goodput %g with %+v, want none", got, b)
	}
}

func TestFixedBatch(t *testing.T) {
	limits := &job.BatchLimits{Init: 8, Max: 1024, LocalMax: map[cluster.GPUType]int{"t4": 32}}
	for _, c := range []struct {
		total, replicas int
		want            job.BatchSize
	}{
		{64, 2, job.BatchSize{Local: 32}},
		{66, 2, job.BatchSize{Local: 17, Accumulation: 1}},
		{64, 1, job.BatchSize{Local: 32, Accumulation: 1}},
		{100, 1, job.BatchSize{Local: 25, Accumulation: 3}},
		{3, 4, job.BatchSize{Local: 1}},
	} {
		if got := perf.FixedBatch(c.total, c.replicas, "t4", limits); got != c.want {
			t.Errorf("%d samples on %d replicas: %+v, want %+v", c.total, c.replicas, got, c.want)
		}
	}
}

func TestFloorBetween_is_below_everything_between(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		local := rapid.IntRange(1, 64).Draw(t, "least local batch")
		limits := &job.BatchLimits{
			Init: int(m.init), Max: 1 << 14, LocalMin: local,
			LocalMax: map[cluster.GPUType]int{"t4": local * rapid.IntRange(1, 8).Draw(t, "largest local batch, times the least")},
		}
		perNode := rapid.IntRange(1, 8).Draw(t, "GPUs a node")
		first := rapid.IntRange(1, 8).Draw(t, "fewest nodes")
		last := first + rapid.IntRange(0, 60).Draw(t, "more nodes")
		replicas := func(nodes int) perf.Replicas {
			return perf.Replicas{Allocation: on(nodes, nodes*perNode, "t4"), Replicas: nodes * perNode}
		}
		floor := perf.FloorBetween(m, replicas(first), replicas(last), limits)
		for n := first; n <= last; n++ {
			r := replicas(n)
			if best, _ := perf.BestBatch(m, r.Allocation, r.Replicas, limits); best > 0 && !notAbove(floor, best) {
				t.Fatalf("floor %g of %d to %d nodes, but %d nodes reach %g", floor, first, last, n, best)
			}
		}
	})
}
