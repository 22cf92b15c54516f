package convex_test

import (
	"math/rand/v2"
	"testing"

	"github.com/oxgang/oxgang/opt/convex"
)

// P12: Little's law. Jobs that arrive in bursts, of random sizes, and never wait use
// on average what the plan spends, and take as long as it says.
func TestEvaluate_is_what_a_long_run_costs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	p := &convex.Problem{Classes: []convex.Class{
		{Rate: 0.5, Rescale: 0.3, Epochs: []convex.Epoch{{Size: 3, Points: speeds(1, 1, 2, 1.8)}, {Size: 2, Points: speeds(1, 1, 4, 3)}}},
		{Rate: 0.2, Epochs: []convex.Epoch{{Size: 9, Points: speeds(1, 1, 8, 5)}}},
	}}
	plan, err := p.Evaluate([][]convex.Point{{{Width: 2}, {Width: 4}}, {{Width: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	const jobs = 200_000
	clock, used, took := 0.0, 0.0, 0.0
	for range jobs {
		gap := random.ExpFloat64() * 0.2 // nine of ten in bursts
		if random.IntN(10) == 0 {
			gap = random.ExpFloat64() * (10/0.7 - 9*0.2)
		}
		clock += gap
		i := 0
		if random.Float64() < 0.2/0.7 {
			i = 1
		}
		for j, at := range plan.Widths[i] {
			time := random.ExpFloat64()*p.Classes[i].Epochs[j].Size/at.Speed + p.Classes[i].Rescale
			used += time * float64(at.Width)
			took += time
		}
	}
	if got := used / clock; !isClose(got, plan.Spend, 0.02) {
		t.Errorf("%g in use on average, want %g", got, plan.Spend)
	}
	if got := took / jobs; !isClose(got, plan.MeanJCT, 0.02) {
		t.Errorf("mean %g, want %g", got, plan.MeanJCT)
	}
}

func TestEvaluate_refuses_widths_that_are_not_there(t *testing.T) {
	for want, widths := range map[string][][]convex.Point{
		"convex: widths of 0 classes, want 1":               {},
		"convex: class 0: widths of 0 epochs, want 1":       {{}},
		"convex: class 0: epoch 0 has no width 3 of kind 0": {{{Width: 3}}},
		"convex: class 0: epoch 0 has no width 2 of kind 1": {{{Kind: 1, Width: 2}}},
	} {
		if _, err := valid().Evaluate(widths); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Widths that are best in no time to rescale ruin whoever has to: what they really
// cost on the stream of AWS. Figures: shared/reference/boa-lyra.md, 2.2.
func TestEvaluate_widths_that_know_of_no_rescaling(t *testing.T) {
	p := readGolden(t).aws(t)
	for budget, want := range map[float64]struct{ spend, mean float64 }{25: {66.7, 4406}, 55: {418, 0}} {
		s := solve(t, p, budget)
		widths := make([][]convex.Point, len(s.Widths))
		for i := range s.Widths {
			for _, m := range s.Widths[i] {
				near := m.At
				if m.Width()-float64(m.At.Width) > float64(m.Next.Width)-m.Width() {
					near = m.Next
				}
				widths[i] = append(widths[i], near)
			}
		}
		plan, err := p.Evaluate(widths)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("budget %g: spends %.1f, mean %.0f, runs of widths %d %d %d", budget, plan.Spend, plan.MeanJCT,
			len(runs(plan.Widths[0])), len(runs(plan.Widths[1])), len(runs(plan.Widths[2])))
		if !isClose(plan.Spend, want.spend, 1e-3) || want.mean != 0 && !isClose(plan.MeanJCT, want.mean, 1e-3) {
			t.Errorf("budget %g: spends %g, mean %g, want %+v", budget, plan.Spend, plan.MeanJCT, want)
		}
	}
}
