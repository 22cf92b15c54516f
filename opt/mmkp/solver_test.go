package mmkp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// gpus is a choice of n GPUs of the only type.
func gpus(value, n float64) mmkp.Choice {
	return mmkp.Choice{Value: value, Use: mmkp.Use{Amount: n}}
}

func TestSolve_bad_numbers_are_refused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bad := func(c mmkp.Choice) *mmkp.Problem {
		return &mmkp.Problem{Capacity: []float64{4}, Items: []mmkp.Item{{}, {Choices: []mmkp.Choice{gpus(1, 1), c}}}}
	}
	for _, test := range []struct {
		name  string
		p     *mmkp.Problem
		start []float64
		want  string
	}{
		{"value is not a number", bad(gpus(nan, 1)), nil, "item 1, choice 1: value NaN, want finite"},
		{"value is infinite", bad(gpus(-inf, 1)), nil, "item 1, choice 1: value -Inf, want finite"},
		{"amount is infinite", bad(gpus(1, inf)), nil, "item 1, choice 1: amount +Inf, want finite and at least 0"},
		{"amount is negative", bad(gpus(1, -2)), nil, "item 1, choice 1: amount -2, want finite and at least 0"},
		{"resource is unknown", bad(mmkp.Choice{Value: 1, Use: mmkp.Use{Resource: 1, Amount: 2}}), nil, "item 1, choice 1: resource 1, want one of 1"},
		{"second use is negative", bad(mmkp.Choice{Value: 1, More: []mmkp.Use{{Amount: -1}}}), nil, "item 1, choice 1: amount -1, want finite and at least 0"},
		{"capacity is negative", &mmkp.Problem{Capacity: []float64{-1}}, nil, "resource 0: capacity -1, want finite and at least 0"},
		{"capacity is not a number", &mmkp.Problem{Capacity: []float64{nan}}, nil, "resource 0: capacity NaN, want finite and at least 0"},
		{"nothing to choose but must", &mmkp.Problem{Items: []mmkp.Item{{Must: true}}}, nil, "item 0: no choices, want at least one as it must be served"},
		{"start prices are too few", bad(gpus(1, 1)), []float64{}, "start prices: got 0, want 1"},
		{"start price is negative", bad(gpus(1, 1)), []float64{-1}, "start price of resource 0: -1, want finite and at least 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := mmkp.NewSolver().Solve(t.Context(), test.p, test.start, mmkp.DefaultOptions())
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestSolve_bad_options_are_refused(t *testing.T) {
	_, err := mmkp.NewSolver().Solve(t.Context(), &mmkp.Problem{}, nil, mmkp.Options{MaxSteps: -1, MaxNodes: -2, Gap: math.NaN()})
	want := "max steps -1, want at least 0\nmax nodes -2, want at least 0\ngap NaN, want at least 0 and below 1"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestSolve_picks(t *testing.T) {
	for _, test := range []struct {
		name     string
		capacity []float64
		items    []mmkp.Item
		want     []int
	}{
		{"nothing from nothing", nil, nil, nil},
		{"no resource at all", nil, []mmkp.Item{{Choices: []mmkp.Choice{{Value: 1}, {Value: 2}}}}, []int{1}},
		{"nothing worth having", []float64{9}, []mmkp.Item{{Choices: []mmkp.Choice{gpus(0, 1), gpus(-1, 0)}}, {}}, []int{-1, -1}},
		{"equal items: the lowest", []float64{1}, []mmkp.Item{{Choices: []mmkp.Choice{gpus(1, 1)}}, {Choices: []mmkp.Choice{gpus(1, 1)}}}, []int{0, -1}},
		{"ten equal items: the lowest four", []float64{4}, each(10, 1), []int{0, 0, 0, 0, -1, -1, -1, -1, -1, -1}},
		{"equal choices: the lowest", []float64{1}, []mmkp.Item{{Choices: []mmkp.Choice{gpus(1, 1), gpus(1, 1)}}}, []int{0}},
		{"a choice below the hull", []float64{6}, []mmkp.Item{{Choices: []mmkp.Choice{gpus(1, 2), gpus(10, 8)}}, {Choices: []mmkp.Choice{gpus(5, 4)}}}, []int{0, 0}},
		{"must, at a loss", []float64{4}, []mmkp.Item{{Choices: []mmkp.Choice{gpus(9, 4)}}, {Choices: []mmkp.Choice{gpus(-2, 3), gpus(-1, 4)}, Must: true}}, []int{-1, 1}},
		{"ten tenths fit into one", []float64{1}, each(10, 0.1), []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &mmkp.Problem{Capacity: test.capacity, Items: test.items}
			s, err := mmkp.NewSolver().Solve(t.Context(), p, nil, mmkp.DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.Pick); diff != "" {
				t.Errorf("picks (-want +got):\n%s", diff)
			}
		})
	}
}

// each returns n items that want the same amount, for the same value.
func each(n int, amount float64) []mmkp.Item {
	items := make([]mmkp.Item, n)
	for i := range items {
		items[i].Choices = []mmkp.Choice{gpus(1, amount)}
	}
	return items
}

func TestSolve_infeasible_names_the_resource(t *testing.T) {
	two := mmkp.Item{Must: true, Choices: []mmkp.Choice{{Value: 1, Use: mmkp.Use{Resource: 1, Amount: 3}}}}
	either := mmkp.Item{Must: true, Choices: []mmkp.Choice{gpus(1, 3), two.Choices[0]}}
	for _, test := range []struct {
		name  string
		items []mmkp.Item
		want  string
	}{
		{"one resource alone", []mmkp.Item{two, {}, two}, "resource 1: must hold at least 6, capacity 5: "},
		{"only together", []mmkp.Item{either, either, either}, "resource "},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &mmkp.Problem{Capacity: []float64{5, 5}, Items: test.items}
			_, err := mmkp.NewSolver().Solve(t.Context(), p, nil, mmkp.DefaultOptions())
			if !errors.Is(err, mmkp.ErrInfeasible) || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %s... ErrInfeasible", err, test.want)
			}
		})
	}
}

func TestSolve_limits(t *testing.T) {
	p := shaped(512, 3, 300)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		opts mmkp.Options
		want mmkp.Status
	}{
		{"no search", t.Context(), mmkp.Options{MaxSteps: 500}, mmkp.Limited},
		{"one node", t.Context(), mmkp.Options{MaxSteps: 500, MaxNodes: 1}, mmkp.Limited},
		{"no steps", t.Context(), mmkp.Options{MaxNodes: 5000}, mmkp.Limited},
		{"context ended", ended, mmkp.Options{MaxSteps: 500, MaxNodes: 1 << 30}, mmkp.Interrupted},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := mmkp.NewSolver().Solve(test.ctx, p, nil, test.opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := consistent(p, s); err != nil {
				t.Error(err)
			}
			if s.Status != test.want || s.Gap <= 0 {
				t.Errorf("status %v, gap %v, want %v and a gap", s.Status, s.Gap, test.want)
			}
		})
	}
}

func TestSolve_ten_thousand_GPUs_within_a_thousandth(t *testing.T) {
	p := shaped(10_000, 7, 1_400)
	s, err := mmkp.NewSolver().Solve(t.Context(), p, nil, mmkp.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := consistent(p, s); err != nil {
		t.Error(err)
	}
	t.Logf("gap %.1e, %d price steps, %d nodes", s.Gap, s.Iterations, s.Nodes)
	if s.Gap > 1e-3 {
		t.Errorf("gap %v, want at most 0.001", s.Gap)
	}
}

func TestSolver_allocates_nothing_the_second_time(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the race detector allocates too")
	}
	p, solver := shaped(64, 3, 20), mmkp.NewSolver()
	allocs := testing.AllocsPerRun(10, func() { // it runs once before it counts
		if _, err := solver.Solve(context.Background(), p, nil, mmkp.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want 0", allocs)
	}
}

func TestConsistent_sees_what_is_wrong(t *testing.T) {
	p := &mmkp.Problem{Capacity: []float64{4}, Items: []mmkp.Item{
		{Choices: []mmkp.Choice{gpus(2, 3)}}, {Choices: []mmkp.Choice{gpus(1, 2)}, Must: true},
	}}
	for name, s := range map[string]mmkp.Solution{
		"too much is used":  {Pick: []int{0, 0}, Value: 3, Bound: 3},
		"a must is left":    {Pick: []int{0, -1}, Value: 2, Bound: 2},
		"wrong value":       {Pick: []int{-1, 0}, Value: 2, Bound: 2},
		"bound below value": {Pick: []int{-1, 0}, Value: 1, Bound: 0.5},
	} {
		if consistent(p, &s) == nil {
			t.Errorf("%s: no complaint", name)
		}
	}
}

// Of equal items the first is served, unless ties are to fall otherwise.
func TestOptions_Ties(t *testing.T) {
	p := &mmkp.Problem{Capacity: []float64{2}}
	for range 6 {
		p.Items = append(p.Items, mmkp.Item{Choices: []mmkp.Choice{{Value: 1, Use: mmkp.Use{Amount: 1}}}})
	}
	served := map[string]bool{}
	for ties := range uint64(20) {
		o := mmkp.DefaultOptions()
		o.Ties = ties
		s, err := mmkp.NewSolver().Solve(t.Context(), p, nil, o)
		if err != nil || s.Value != 2 {
			t.Fatalf("ties %d: %+v, %v, want two served", ties, s, err)
		}
		if ties == 0 && (s.Pick[0] != 0 || s.Pick[1] != 0) {
			t.Errorf("picks %v, want the first two", s.Pick)
		}
		served[fmt.Sprint(s.Pick)] = true
	}
	if len(served) < 5 {
		t.Errorf("20 orders of ties gave %d solutions, want many of the 15", len(served))
	}
}
