package boa

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// flawed returns a class of two epochs with something wrong.
func flawed(change func(*perf.ClassStats)) *perf.ClassStats {
	c := linear("bad", "t4", 8, 4)
	change(c)
	return c
}

// Whatever is believed of one class, its jobs and those of others run, and what is wrong is
// said by name.
func TestBadClassesAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*perf.ClassStats)
		want   []string
	}{
		"rate NaN":       {func(c *perf.ClassStats) { c.Rate = math.NaN() }, []string{"class bad", "rate NaN"}},
		"rate below 0":   {func(c *perf.ClassStats) { c.Rate = -1 }, []string{"class bad", "rate -1"}},
		"rate infinite":  {func(c *perf.ClassStats) { c.Rate = math.Inf(1) }, []string{"class bad", "rate +Inf"}},
		"rate zero":      {func(c *perf.ClassStats) { c.Rate = 0 }, nil}, // it is seldom
		"no epochs":      {func(c *perf.ClassStats) { c.Sizes = nil }, []string{"class bad", "0 epochs"}},
		"size zero":      {func(c *perf.ClassStats) { c.Sizes[1] = 0 }, []string{"class bad", "epoch 1", "size 0"}},
		"size NaN":       {func(c *perf.ClassStats) { c.Sizes[0] = math.NaN() }, []string{"class bad", "epoch 0", "size NaN"}},
		"no speeds":      {func(c *perf.ClassStats) { c.Speeds = nil }, []string{"class bad", "speeds known: false"}},
		"restart":        {func(c *perf.ClassStats) { c.Restart = -time.Second }, []string{"class bad", "rescale time -1"}},
		"speeds NaN":     {func(c *perf.ClassStats) { c.Speeds = always(math.NaN()) }, []string{"class bad", "epoch 0", "runs on no node"}},
		"speeds huge":    {func(c *perf.ClassStats) { c.Speeds = always(1e200) }, []string{"class bad", "epoch 0", "speed 1e+200"}},
		"speeds below 0": {func(c *perf.ClassStats) { c.Speeds = always(-1) }, []string{"class bad", "runs on no node"}},
		"unknown type":   {func(c *perf.ClassStats) { c.Speeds = linear("", "h100", 8, 8).Speeds }, []string{"class bad", "runs on no node"}},
		"panic": {func(c *perf.ClassStats) {
			c.Speeds = perf.EpochSpeed(func(int, cluster.Configuration) float64 { panic("no such point") })
		}, []string{"no such point"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := policyWith(t, func(o *Options) { o.Budget = 100 })
			nodes := []cluster.Node{host("n1", "t4", 4, "t4-4"), host("n2", "t4", 4, "t4-4")}
			s := snapshot(t, 0, nodes, []cluster.Rental{rental("t4", 4, 2, 0)}, []*perf.ClassStats{linear("good", "t4", 4), flawed(c.change)}, running("j", "good", ""), running("k", "bad", ""))
			plan := ask(t, p, s)
			said(t, plan.Stats.Failed, c.want)
			for i, d := range plan.Jobs {
				if d.Allocation.GPUs < 1 && d.Why.Kind != policy.WaitNodes {
					t.Errorf("job %d: %+v, want it to run", i, d.Why)
				}
			}
		})
	}
}

func always(v float64) perf.EpochSpeed {
	return func(int, cluster.Configuration) float64 { return v }
}

// said complains unless a note has all words, or is empty if there are none.
func said(t *testing.T, note string, words []string) {
	t.Helper()
	if len(words) == 0 && note != "" {
		t.Errorf("noted %q, want nothing", note)
	}
	for _, w := range words {
		if !strings.Contains(note, w) {
			t.Errorf("noted %q, want %q in it", note, w)
		}
	}
}

// A budget that is too small whatever the widths is named, with the smallest that is not;
// jobs then have the widths that cost least.
func TestBudgetTooSmallIsNamed(t *testing.T) {
	for budget, words := range map[float64][]string{1e-9: {"budget 1e-09 per hour, want at least"}, 100: nil, 0: nil} {
		p := policyWith(t, func(o *Options) { o.Budget = budget })
		c := linear("x", "t4", 8)
		c.Speeds = perf.EpochSpeed(func(_ int, at cluster.Configuration) float64 { return float64(at.GPUs) / (1 + float64(at.GPUs)/8) })
		j := running("j", "x", "")
		plan := ask(t, p, snapshot(t, 0, []cluster.Node{host("n1", "t4", 4, "t4-4")}, []cluster.Rental{rental("t4", 4, 1, 0)}, []*perf.ClassStats{c}, j))
		said(t, plan.Stats.Failed, words)
		if d := plan.Jobs[0]; budget == 1e-9 && (d.Why.Kind != policy.WaitBudget || d.Why.Config.GPUs < 1) {
			t.Errorf("%+v, want to wait for the budget, with what it is to have", d.Why)
		}
	}
}

// Offers that make no sense are named, once, and nothing is computed.
func TestBadOffersAreNamed(t *testing.T) {
	for name, change := range map[string]func(*cluster.Offer){
		"price below 0":         func(o *cluster.Offer) { o.Node.Price = -1 },
		"price NaN":             func(o *cluster.Offer) { o.Node.Price = cluster.Price(math.NaN()) },
		"price infinite":        func(o *cluster.Offer) { o.Node.Price = cluster.Price(math.Inf(1)) },
		"interruptions below 0": func(o *cluster.Offer) { o.Node.Interruptions = -1 },
		"no GPUs":               func(o *cluster.Offer) { o.Node.Capacity.GPUs = 0 },
		"no nodes":              func(o *cluster.Offer) { o.Most = 0 },
	} {
		offer := rental("t4", 4, 0, 1).Offer
		change(&offer)
		o := DefaultOptions()
		_, err := compute(&inputs{[]*perf.ClassStats{linear("a", "t4", 4), linear("b", "t4", 4)}, []cluster.Offer{offer}, 1, 0.5}, &o)
		if err == nil || strings.Count(err.Error(), "offer t4-4") != 1 {
			t.Errorf("%s: error %v, want one that names offer t4-4 once", name, err)
		}
	}
}

// What a job says of itself may not fit its class' table.
func TestJobsBeyondTheTable(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*policy.Job)
		want   int
	}{
		"epoch after the last":  {func(j *policy.Job) { j.Epoch, j.Progress = 99, 1e9 }, 2},
		"epoch below 0":         {func(j *policy.Job) { j.Epoch = -1 }, 4},
		"progress went back":    {func(j *policy.Job) { j.Epoch, j.Progress = 1, 0 }, 2},
		"a class never seen":    {func(j *policy.Job) { j.Spec.Class = "y" }, 1},
		"whole replicas":        {func(j *policy.Job) { j.Spec.GPUsPerReplica = map[cluster.GPUType]int{"t4": 3} }, 3},
		"at most 3":             {func(j *policy.Job) { j.Spec.MaxGPUs = 3 }, 3},
		"at least 6":            {func(j *policy.Job) { j.Spec.MinGPUs = 6 }, 6},
		"does not adapt":        {func(j *policy.Job) { j.Spec.GPUs, j.Spec.Adaptivity = 5, 0 }, 5},
		"of an unknown type":    {func(j *policy.Job) { j.Spec.GPUTypes = []cluster.GPUType{"h100"} }, 0},
		"replicas over the top": {func(j *policy.Job) { j.Spec.GPUsPerReplica, j.Spec.MaxGPUs = map[cluster.GPUType]int{"t4": 3}, 2 }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			j := running("j", "x", "")
			c.change(j)
			nodes := []cluster.Node{host("n1", "t4", 4, "t4-4"), host("n2", "t4", 4, "t4-4")}
			s := snapshot(t, 0, nodes, []cluster.Rental{rental("t4", 4, 2, 0)}, []*perf.ClassStats{linear("x", "t4", 4, 2)}, j)
			d := ask(t, policyWith(t, unbounded), s).Jobs[0]
			if d.Allocation.GPUs != c.want || c.want == 0 && d.Why.Kind != policy.Impossible {
				t.Errorf("%v, %+v; want %d GPUs", d.Allocation, d.Why, c.want)
			}
		})
	}
}

// Speeds that are neither monotone nor concave, and known of some widths only: jobs have
// widths that are known, and of these none that buys less than others.
func TestSpeedsWithGaps(t *testing.T) {
	speeds := map[int]float64{2: 2, 3: 1.5, 4: 2.1, 8: 4.5, 12: 4.4}
	c := linear("x", "t4", 64)
	c.Speeds = perf.EpochSpeed(func(_ int, at cluster.Configuration) float64 { return speeds[at.GPUs] })
	p, err := NewProblem([]*perf.ClassStats{c}, []cluster.Offer{rental("t4", 4, 0, 0).Offer}, 64)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := p.Repaired(); n != 1 || err != nil {
		t.Errorf("%d epochs repaired, %v; want 1", n, err)
	}
	for _, m := range methods() {
		for _, budget := range []float64{0.9, 1, 1.5, 5, math.Inf(1)} {
			table, err := p.Table(budget, m)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []int{table.Cheap.Widths[0][0].Width, table.Fast.Widths[0][0].Width} {
				if k != 2 && k != 8 {
					t.Errorf("%v, budget %g: width %d, want 2 or 8", m, budget, k)
				}
			}
		}
	}
}

// A job whose model makes no sense gets GPUs all the same, and no number of it gets out.
func TestModelsWithoutSense(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1} {
		j := running("j", "", "", share("n1", 1))
		j.Allocation = cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "t4"}}
		j.Phase, j.Perf = job.Running, odd(v)
		s := snapshot(t, 0, []cluster.Node{host("n1", "t4", 4, "t4-4")}, []cluster.Rental{rental("t4", 4, 1, 0)}, nil, j)
		if d := ask(t, policyWith(t, unbounded), s).Jobs[0]; d.Allocation.GPUs < 1 {
			t.Errorf("goodput %v: %+v, want it to run", v, d.Why)
		}
	}
}

// odd is a model that makes the same of anything.
type odd float64

func (v odd) Throughput(cluster.Allocation, job.BatchSize) float64 { return float64(v) }
func (odd) Efficiency(float64) float64                             { return 1 }

func (odd) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

// picky is a model that says nothing of one GPU type.
type picky cluster.GPUType

func (v picky) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	if a.GPUType == cluster.GPUType(v) {
		return math.NaN()
	}
	return 1
}
func (picky) Efficiency(float64) float64 { return 1 }

func (picky) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

// Where a model makes no sense does not hide where it does.
func TestModelsWithoutSenseOfOneType(t *testing.T) {
	j := running("j", "", "")
	j.Perf = picky("t4")
	nodes := []cluster.Node{host("n1", "t4", 4, "t4-4"), host("n2", "a100", 4, "a100-4")}
	s := snapshot(t, 0, nodes, []cluster.Rental{rental("t4", 4, 1, 0), rental("a100", 4, 1, 0)}, nil, j)
	if d := ask(t, policyWith(t, unbounded), s).Jobs[0]; d.Allocation.GPUType != "a100" {
		t.Errorf("%v, want GPUs that it is known to run on", d.Allocation)
	}
}

// gaps returns a class that runs on some numbers of GPUs only.
func gaps(widths ...int) *perf.ClassStats {
	c := linear("x", "t4", 64)
	c.Speeds = perf.EpochSpeed(func(_ int, at cluster.Configuration) float64 {
		if slices.Contains(widths, at.GPUs) {
			return float64(at.GPUs)
		}
		return 0
	})
	return c
}

// A job that may not have its width does not get one that its class does not run on, if its
// own model knows better.
func TestLimitsBetweenWidths(t *testing.T) {
	j := running("j", "x", "")
	j.Spec.MaxGPUs, j.Perf = 3, few{}
	s := snapshot(t, 0, []cluster.Node{host("n1", "t4", 4, "t4-4")}, []cluster.Rental{rental("t4", 4, 1, 0)}, []*perf.ClassStats{gaps(2, 4)}, j)
	if d := ask(t, policyWith(t, unbounded), s).Jobs[0]; d.Allocation.GPUs != 2 {
		t.Errorf("%v, want 2 GPUs", d.Allocation)
	}
}

// few is a model of a job that runs on even numbers of GPUs.
type few struct{}

func (few) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	return float64((a.GPUs + 1) % 2 * a.GPUs)
}
func (few) Efficiency(float64) float64 { return 1 }

func (few) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
