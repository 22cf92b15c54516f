package estimate

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/perf"
)

func TestLoss_of_golden_parameters_is_the_golden_objective(t *testing.T) {
	for _, g := range readGolden(t) {
		p := g.Params.params()
		if got := fitLoss(g.observations(), &p); math.Abs(got-g.Objective) > 1e-9 {
			t.Errorf("fit %d: loss %.12g, want %.12g", g.FitID, got, g.Objective)
		}
	}
}

// beforePrior undoes what the public fit does to its parameters at the end.
func beforePrior(g *golden) perf.Params {
	p := g.Params.params()
	if b := limits(g.observations()); b.pinned(alphaN) {
		p.AlphaN, p.BetaN = floor, floor
	}
	return p
}

func TestFit_is_never_worse_than_the_public_one(t *testing.T) {
	var f fitter
	var ratios []float64
	for _, g := range readGolden(t) {
		obs, p := g.observations(), beforePrior(&g)
		golden := fitLoss(obs, &p)
		for name, start := range map[string]*perf.Params{"cold": nil, "warm": &p} {
			_, got := f.Fit(obs, start)
			if got > golden*(1+1e-3)+1e-6 {
				t.Errorf("fit %d, %s: loss %.8f, want at most %.8f", g.FitID, name, got, golden)
			}
			if start == nil {
				ratios = append(ratios, got/golden)
			}
		}
	}
	slices.Sort(ratios)
	n := len(ratios)
	t.Logf("cold loss over golden, %d fits: least %.3f, quartiles %.3f %.3f %.3f, most %.6f",
		n, ratios[0], ratios[n/4], ratios[n/2], ratios[3*n/4], ratios[n-1])
}

// synthetic draws measurements of a model that a job might have, each wrong by
// up to the given relative error.
func synthetic(t *rapid.T, wrong float64) ([]perf.Observation, perf.Params) {
	p := perf.Params{
		AlphaC: math.Exp(rapid.Float64Range(-5, 0).Draw(t, "log alphaC")),
		AlphaN: math.Exp(rapid.Float64Range(-5, 0).Draw(t, "log alphaN")),
		AlphaR: math.Exp(rapid.Float64Range(-6, -1).Draw(t, "log alphaR")),
		Gamma:  rapid.Float64Range(1, 4).Draw(t, "gamma"),
	}
	p.BetaC = p.AlphaC * rapid.Float64Range(1e-3, 0.2).Draw(t, "betaC/alphaC")
	p.BetaN = p.AlphaN * rapid.Float64Range(1e-3, 0.1).Draw(t, "betaN/alphaN")
	p.BetaR = p.AlphaR * rapid.Float64Range(1e-3, 0.1).Draw(t, "betaR/alphaR")
	noise := rapid.Float64Range(-wrong, wrong)
	obs := make([]perf.Observation, rapid.IntRange(1, 15).Draw(t, "points"))
	for i := range obs {
		nodes := rapid.IntRange(1, 4).Draw(t, "nodes")
		o := perf.Observation{Nodes: nodes, Replicas: nodes * rapid.IntRange(1, 4).Draw(t, "per node"), Local: rapid.IntRange(1, 128).Draw(t, "local")}
		o.Compute = p.Compute(float64(o.Local)) * (1 + noise.Draw(t, "compute error"))
		o.Step = p.Step(o.Nodes, o.Replicas, float64(o.Local)) * (1 + noise.Draw(t, "step error"))
		obs[i] = o
	}
	return obs, p
}

func TestFit_beats_the_truth(t *testing.T) {
	const profiles = 2000
	type made struct {
		obs   []perf.Observation
		truth perf.Params
	}
	draw := rapid.Custom(func(t *rapid.T) made {
		obs, truth := synthetic(t, 0.1)
		return made{obs, truth}
	})
	var f fitter
	local := 0
	for seed := range profiles {
		m := draw.Example(seed)
		b := limits(m.obs)
		x := toVector(&m.truth)
		b.project(&x)
		truth := x.params()
		most := fitLoss(m.obs, &truth)
		if _, cold := f.Fit(m.obs, nil); cold > most*1.02+1e-4 {
			local++
		}
		if _, warm := f.Fit(m.obs, &truth); warm > most+1e-4 {
			t.Errorf("profile %d: loss %g after a start at %g", seed, warm, most)
		}
	}
	if local > profiles/200 {
		t.Errorf("%d of %d cold fits are worse than the truth, want at most 0.5 %%", local, profiles)
	}
	t.Logf("%d of %d cold fits are worse than the truth", local, profiles)
}

func TestFit_stays_in_its_box(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		obs, start := synthetic(t, 0.9)
		p, loss := Fit(obs, nil)
		q, _ := Fit(obs, &start)
		for _, p := range []perf.Params{p, q} {
			x := toVector(&p)
			if slices.Min(x[:gamma]) < floor || p.Gamma < 1 || p.Gamma > mostGamma {
				t.Fatalf("%+v is out of bounds", p)
			}
		}
		if math.IsNaN(loss) || loss < 0 {
			t.Fatalf("loss %g", loss)
		}
	})
}

func TestFit_finds_the_model_that_made_the_profile(t *testing.T) {
	truth := perf.Params{AlphaC: 0.12, BetaC: 0.004, AlphaN: 0.2, BetaN: 1e-4, AlphaR: 0.05, BetaR: 1e-4, Gamma: 1}
	var obs []perf.Observation
	for _, at := range [][3]int{{1, 1, 8}, {1, 1, 64}, {1, 2, 8}, {1, 4, 32}, {2, 4, 8}, {2, 8, 64}, {4, 16, 16}} {
		local := float64(at[2])
		obs = append(obs, perf.Observation{Nodes: at[0], Replicas: at[1], Local: at[2], Compute: truth.Compute(local), Step: truth.Step(at[0], at[1], local)})
	}
	p, loss := Fit(obs, nil)
	if loss > 1e-5 {
		t.Errorf("loss %g of a perfect profile", loss)
	}
	got, want := p.Step(8, 32, 48), truth.Step(8, 32, 48)
	if math.Abs(got/want-1) > 1e-3 {
		t.Errorf("a step on 32 replicas takes %g s, want %g", got, want)
	}
}

func TestFit_holds_what_was_not_seen(t *testing.T) {
	one := perf.Observation{Nodes: 1, Replicas: 1, Local: 8, Compute: 0.4, Step: 0.41}
	larger := perf.Observation{Nodes: 1, Replicas: 1, Local: 16, Compute: 0.6, Step: 0.62}
	pair := perf.Observation{Nodes: 1, Replicas: 2, Local: 8, Compute: 0.4, Step: 0.5}
	apart := perf.Observation{Nodes: 2, Replicas: 2, Local: 8, Compute: 0.4, Step: 0.7}
	for _, c := range []struct {
		name string
		obs  []perf.Observation
		held func(p *perf.Params) bool
	}{
		{"one local batch size", []perf.Observation{one}, func(p *perf.Params) bool { return p.AlphaC == 0.2 }},
		{"one replica: both networks cost nothing", []perf.Observation{one, larger}, func(p *perf.Params) bool {
			return p.AlphaR == floor && p.BetaR == floor && p.AlphaN == 1.1*p.AlphaR && p.BetaN == 1.1*p.BetaR && p.Gamma < 1+1e-6
		}},
		{"one node: the other network is 1.1 times slower", []perf.Observation{one, larger, pair}, func(p *perf.Params) bool {
			return p.AlphaR > 0.05 && p.AlphaN == 1.1*p.AlphaR && p.BetaR == floor && p.BetaN == 1.1*p.BetaR
		}},
		{"several nodes: nothing within", []perf.Observation{one, larger, apart}, func(p *perf.Params) bool {
			return p.AlphaN > 0.1 && p.BetaN == floor && p.AlphaR == floor && p.BetaR == floor
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p, _ := Fit(c.obs, nil); !c.held(&p) {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func TestFit_resumes_where_a_phase_was_never_seen(t *testing.T) {
	obs := []perf.Observation{
		{Nodes: 1, Replicas: 1, Local: 8, Compute: 0.4, Step: 0.41},
		{Nodes: 2, Replicas: 8, Local: 8, Compute: 0.4, Step: 0.9},
	}
	start, _ := Fit(obs[:1], nil)
	_, warm := Fit(obs, &start)
	_, cold := Fit(obs, nil)
	if warm > cold*1.001+1e-6 {
		t.Errorf("loss %g after a start that had seen one GPU, %g without", warm, cold)
	}
}

// Measured network times that point below zero for two replicas.
func TestFit_of_a_network_that_only_grows(t *testing.T) {
	obs := []perf.Observation{
		{Nodes: 1, Replicas: 1, Local: 8, Compute: 0.4, Step: 0.41},
		{Nodes: 2, Replicas: 3, Local: 8, Compute: 0.4, Step: 0.42},
		{Nodes: 2, Replicas: 8, Local: 16, Compute: 0.7, Step: 1.4},
		{Nodes: 4, Replicas: 16, Local: 16, Compute: 0.7, Step: 2.6},
	}
	p, loss := Fit(obs, nil)
	if loss > 0.5 || p.Step(4, 16, 16) < 1.5 {
		t.Errorf("loss %g, a step on 16 replicas takes %g s, want about 2.6", loss, p.Step(4, 16, 16))
	}
}

func TestFitter_gives_what_fresh_memory_gives(t *testing.T) {
	var f fitter
	rapid.Check(t, func(t *rapid.T) {
		obs, start := synthetic(t, 0.3)
		p, loss := Fit(obs, &start)
		q, again := f.Fit(obs, &start)
		if diff := cmp.Diff(p, q); diff != "" || loss != again {
			t.Errorf("reused memory: loss %g, want %g; %s", again, loss, diff)
		}
	})
	if allocs := testing.AllocsPerRun(10, func() { f.Fit([]perf.Observation{{Nodes: 1, Replicas: 1, Local: 1, Compute: 1, Step: 1}}, nil) }); allocs != 0 {
		t.Errorf("%g allocations a fit", allocs)
	}
}

func TestFit_panics_without_observations(t *testing.T) {
	for name, f := range map[string]func(){
		"Fit":  func() { Fit(nil, nil) },
		"Loss": func() { fitLoss(nil, &perf.Params{}) },
	} {
		func() {
			defer func() {
				if recover() != noObservations {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}
