package perf_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// step is a report of a job on so many nodes of four GPUs whose step takes so many seconds.
func step(nodes int, seconds float64) *job.Report {
	return &job.Report{
		Configuration: cluster.Configuration{GPUType: "a100", GPUs: 4 * nodes, Nodes: nodes}, Batch: job.BatchSize{Local: 32},
		StepTime: time.Duration(seconds * float64(time.Second)),
	}
}

// told returns what a Learner knows of class c after n reports of a kind in each of some numbers of racks.
func told(n int, seconds map[int]float64) perf.LocalityCosts {
	var l perf.LocalityLearner
	for racks, s := range seconds {
		for range n {
			l.Learn("c", step(2, s), racks)
		}
	}
	return l.Costs()
}

func TestLearner_compares_like_with_like(t *testing.T) {
	if got := told(3, map[int]float64{1: 1, 2: 1.5})["c"]; math.Abs(got.Times-1.5) > 1e-9 || got.Pairs != 1 {
		t.Errorf("steps of 1 s in one rack and 1.5 s in two: %+v", got)
	}
	if got := told(3, map[int]float64{1: 1, 3: 0.5})["c"]; math.Abs(got.Times-0.5) > 1e-9 {
		t.Errorf("faster in several: %+v, want what was measured", got)
	}
	for name, got := range map[string]perf.LocalityCosts{
		"one rack only":     told(9, map[int]float64{1: 1}),
		"several only":      told(9, map[int]float64{2: 1, 3: 1}),
		"too few":           told(2, map[int]float64{1: 1, 2: 2}),
		"racks not known":   told(9, map[int]float64{1: 1, 0: 2}),
		"nothing was timed": told(9, map[int]float64{1: 0, 2: 0}),
	} {
		if len(got) > 0 {
			t.Errorf("%s: %v, want nothing known", name, got)
		}
	}
}

// Steps that differ in anything else are no pair, and profiling runs and jobs on one node say nothing.
func TestLearner_ignores(t *testing.T) {
	for name, change := range map[string]func(*job.Report){
		"another batch size": func(r *job.Report) { r.Batch.Local = 64 },
		"more accumulation":  func(r *job.Report) { r.Batch.Accumulation = 1 },
		"another type":       func(r *job.Report) { r.Configuration.GPUType = "t4" },
		"more GPUs":          func(r *job.Report) { r.Configuration.GPUs++ },
		"more nodes":         func(r *job.Report) { r.Configuration.Nodes++ },
		"profiling":          func(r *job.Report) { r.Profile = true },
		"one node":           func(r *job.Report) { r.Configuration.Nodes = 1 },
	} {
		var l perf.LocalityLearner
		for range 5 {
			l.Learn("c", step(2, 1), 1)
			other := step(2, 2)
			change(other)
			l.Learn("c", other, 2)
		}
		if got := l.Costs(); len(got) > 0 {
			t.Errorf("%s: %v, want nothing known", name, got)
		}
	}
	var l perf.LocalityLearner
	for range 9 {
		l.Learn("", step(2, 1), 1)
		l.Learn("", step(2, 2), 2)
	}
	if got := l.Costs(); len(got) > 0 {
		t.Errorf("jobs without a class: %v, want nothing known", got)
	}
}

// Costs that were returned stay what they were, and a class has bounded memory.
func TestLearner_Costs_are_immutable(t *testing.T) {
	var l perf.LocalityLearner
	for n := 2; n < 500; n++ {
		for range 3 {
			l.Learn("c", step(n, 1), 1)
			l.Learn("c", step(n, 2), 2)
		}
	}
	before := l.Costs()
	if got := before["c"]; got.Pairs != 64 || math.Abs(got.Times-2) > 1e-9 {
		t.Errorf("500 kinds of steps: %+v, want 64 pairs", got)
	}
	for range 1000 {
		l.Learn("c", step(2, 5), 2)
	}
	if before["c"].Times == l.Costs()["c"].Times || math.Abs(before["c"].Times-2) > 1e-9 {
		t.Errorf("%v became %v, want what was returned to stay", before["c"], l.Costs()["c"])
	}
}

// Whatever the kinds of steps, how long they take and how noisy they are: the cost is found, and no order of reports matters much.
func TestLearner_finds_the_cost(t *testing.T) {
	r := rand.New(rand.NewPCG(draws.Seed(t), 0))
	for range 20 {
		truth := math.Exp(r.Float64())
		var l perf.LocalityLearner
		for range 2000 {
			nodes, racks := 2+r.IntN(6), 1+r.IntN(4)
			seconds := float64(nodes) * math.Exp(0.1*r.NormFloat64())
			if racks > 1 {
				seconds *= truth
			}
			l.Learn("c", step(nodes, seconds), racks)
		}
		if got := l.Costs()["c"]; math.Abs(math.Log(got.Times/truth)) > 0.05 || got.Pairs != 6 {
			t.Errorf("%+v, want %.3f times in 6 pairs", got, truth)
		}
	}
}

// Jobs of a class make a step in a second where one rack has all of their nodes, and in 1.3 s where several have.
func ExampleLocalityLearner() {
	var l perf.LocalityLearner
	for range 3 {
		l.Learn("bert", step(2, 1), 1)
		l.Learn("bert", step(2, 1.3), 2)
	}
	c := l.Costs()["bert"]
	fmt.Printf("%.1f times as long, by %d pair\n", c.Times, c.Pairs)
	// Output: 1.3 times as long, by 1 pair
}
