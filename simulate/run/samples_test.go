package run

import (
	"context"
	"testing"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/budget"
	"github.com/oxgang/oxgang/simulate/config"
)

// TestSampledMeans: the range of other orders of a trace's jobs holds what comes of its own order,
// which is not among them, nine times of ten; the model alone is mostly outside. Two of six
// traces are looked at, one with -short, all with OXGANG_LONG.
func TestSampledMeans(t *testing.T) {
	if testing.Short() {
		t.Skip("plays a dozen runs")
	}
	held, outside := 0, 0
	traces := draws.Some(t, 2, []uint64{0, 1, 2, 3, 4, 5})
	for _, seed := range traces {
		c := config.Default()
		set(t, c, "generate.kind", "newtrace-like", "generate.jobs", "120", "generate.span", "6h", "cluster", "t4:80x4", "policy", "boa", "jobs.max-gpus", "64",
			"estimate.mode", "oracle", "estimate.classes", "known", "set", "budget=110")
		c.Sim.Seed = seed + 1
		in, err := Load(c, textFiles(nil))
		if err != nil {
			t.Fatal(err)
		}
		o := cluster.Offer{Group: "t4", Most: 1000, Node: cluster.Node{GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Group: "t4", Tenure: cluster.Rented}}
		means, err := SampledMeans(t.Context(), c, in, &Rented{Offers: []cluster.Offer{o}, Budget: 110, Widest: 64}, 6)
		if err != nil {
			t.Fatal(err)
		}
		run, err := Simulate(t.Context(), c, in, "boa")
		if err != nil {
			t.Fatal(err)
		}
		e, is := budget.Expect(means), run.Result.Summary.MeanJCT
		if t.Logf("seed %d: %.0f s in %.0f to %.0f", seed, is, e.Low, e.High); e.Low <= is && is <= e.High {
			held++
		}
		said := modelled(t, in, 110)
		if said < e.Low || said > e.High {
			outside++
		}
		t.Logf("seed %d: the model says %.0f s", seed, said)
	}
	most := max(1, len(traces)*2/3)
	if held < most {
		t.Errorf("the range held %d times of %d, want at least %d", held, len(traces), most)
	}
	if outside < most {
		t.Errorf("the model alone was outside %d times of %d, want at least %d: a range that holds it, too, is too wide to be of use", outside, len(traces), most)
	}
}

// modelled returns the mean completion time that the model says for a budget.
func modelled(t *testing.T, in *Inputs, perHour float64) float64 {
	t.Helper()
	w, err := budget.NewWorkload(in.Arrivals, in.Catalog, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := budget.Unpriced("t4:4")
	if err != nil {
		t.Fatal(err)
	}
	p, err := budget.NewPlanner(w, l, 64)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(perHour)
	if err != nil {
		t.Fatal(err)
	}
	return plan.MeanJCT
}

// TestSampledMeans_ends when it is told to.
func TestSampledMeans_ends(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c := config.Default()
	set(t, c, "generate.jobs", "20", "cluster", "t4:60x4")
	in, err := Load(c, textFiles(nil))
	if err != nil {
		t.Fatal(err)
	}
	o := cluster.Offer{Group: "t4", Most: 10, Node: cluster.Node{GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Group: "t4", Tenure: cluster.Rented}}
	if _, err := SampledMeans(ctx, c, in, &Rented{Offers: []cluster.Offer{o}, Budget: 70, Widest: 64}, 2); err == nil {
		t.Error("no error of a context that has ended")
	}
}
