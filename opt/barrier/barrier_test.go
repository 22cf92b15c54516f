package barrier_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/barrier"
)

// one returns an item of a program with one kind.
func one(size, rate, gain, least float64) barrier.Item {
	return barrier.Item{Size: []float64{size}, Rate: []float64{rate}, Gain: []float64{gain}, Least: least}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

func TestLevel_shares_one_kind_evenly(t *testing.T) {
	p := barrier.Program{Capacity: []float64{2}, Items: []barrier.Item{one(1, 1, 0, 1), one(2, 1, 0, 1), one(1, 3, 0, 3)}}
	s := p.Level(barrier.Settings{})
	near(t, "level", s.Level, 0.5, 1e-7)
	for i, x := range s.X {
		near(t, "fraction", x[0], []float64{0.5, 0.5, 0.5}[i], 1e-6)
	}
	near(t, "price", s.Prices[0], 0.25, 1e-6) // four GPUs are asked for: one more adds a quarter to all
}

// An item that has all it needs shares what is left with its like.
func TestLevel_shares_what_is_left(t *testing.T) {
	p := barrier.Program{Capacity: []float64{2}, Items: []barrier.Item{one(1, 1, 0, 1), one(1, 1, 0, 0), one(1, 1, 0, 0)}}
	s := p.Level(barrier.Settings{})
	near(t, "level", s.Level, 1, 1e-6)
	near(t, "one", s.X[1][0], s.X[2][0], 1e-9)
	if x := s.X[1][0]; x < 0.2 || x > 0.5 {
		t.Errorf("items that need nothing have %g, want room on both sides", x)
	}
}

func TestLevel_without_a_way(t *testing.T) {
	for name, items := range map[string][]barrier.Item{
		"nobody needs anything":     {one(1, 1, 0, 0)},
		"no rate":                   {one(1, 0, 0, 1)},
		"may be nowhere":            {one(0, 1, 0, 1)},
		"one can, the other cannot": {one(1, 1, 0, 1), one(1, 0, 0, 1)},
		"no items":                  nil,
	} {
		p := barrier.Program{Capacity: []float64{2}, Items: items}
		if s := p.Level(barrier.Settings{}); s.Feasible || s.Level != 0 || len(s.X) != len(items) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestBest_fills_a_knapsack_and_splits_ties(t *testing.T) {
	p := barrier.Program{Capacity: []float64{3}, Items: []barrier.Item{
		one(1, 1, 9, 0), one(1, 1, 5, 0), one(2, 1, 10, 0), one(2, 1, 2, 0), one(4, 1, 10, 0),
	}}
	s := p.Best(barrier.Settings{})
	near(t, "objective", s.Objective, 19, 1e-6)
	near(t, "bound", s.Bound, 19, 1e-6)
	near(t, "price", s.Prices[0], 5, 1e-6)
	near(t, "the best", s.X[0][0], 1, 1e-6)
	near(t, "GPUs of the tie", s.X[1][0]+2*s.X[2][0], 2, 1e-6)
	if x, y := s.X[1][0], s.X[2][0]; x < 0.3 || y < 0.3 {
		t.Errorf("equally good items have %g and %g, want a share each", x, y)
	}
	if near, far := s.X[3][0], s.X[4][0]; !(near > far && far > 0) {
		t.Errorf("items that are not worth it have %g and %g, want the better one to have more", near, far)
	}
}

// The centre of 0 ≤ x ≤ 1, x ≥ 1/2 is where 1/x + 1/(x - 1/2) = 1/(1 - x).
func TestBest_is_the_centre_without_gains(t *testing.T) {
	p := barrier.Program{Capacity: []float64{1e9}, Items: []barrier.Item{one(1, 1, 0, 0.5)}}
	s := p.Best(barrier.Settings{})
	near(t, "x", s.X[0][0], (3+math.Sqrt(3))/6, 1e-5)
	if !s.Converged || !s.Feasible {
		t.Errorf("%+v", s)
	}
}

func TestBest_without_room(t *testing.T) {
	p := barrier.Program{Capacity: []float64{2}, Items: []barrier.Item{one(1, 1, 0, 1)}}
	if s := p.Best(barrier.Settings{}); s.Feasible {
		t.Errorf("%+v", s)
	}
}

// programs draws programs of all scales, with kinds nobody may be on, items alike,
// and items that need or gain nothing.
func programs(t *rapid.T) *barrier.Program {
	p := &barrier.Program{}
	for range rapid.IntRange(1, 4).Draw(t, "kinds") {
		p.Capacity = append(p.Capacity, rapid.SampledFrom([]float64{1, 0, 2, 3, 32, 256, 1000}).Draw(t, "capacity"))
	}
	unit := rapid.SampledFrom([]float64{1, 1e-6, 1e6}).Draw(t, "unit")
	for range rapid.IntRange(0, 40).Draw(t, "items") {
		it := barrier.Item{Least: unit * rapid.SampledFrom([]float64{1, 0, 0.001, 7, 1000}).Draw(t, "least")}
		for range p.Capacity {
			it.Size = append(it.Size, rapid.SampledFrom([]float64{1, 0, 2, 4, 8, 64}).Draw(t, "size"))
			it.Rate = append(it.Rate, rapid.SampledFrom([]float64{1, 0, 0.1, 3, 55.5}).Draw(t, "rate"))
			it.Gain = append(it.Gain, unit*rapid.SampledFrom([]float64{1, 0, 0.1, 3, -2}).Draw(t, "gain"))
		}
		if len(p.Items) > 0 && rapid.Bool().Draw(t, "alike") {
			it = p.Items[len(p.Items)-1]
		}
		p.Items = append(p.Items, it)
	}
	return p
}

// check checks rows, the proof, and that items alike are treated alike.
func check(t *rapid.T, p *barrier.Program, s *barrier.Solution, level float64) {
	t.Helper()
	if !s.Converged {
		t.Fatalf("not converged: %+v", s)
	}
	used := make([]float64, len(p.Capacity))
	for i, it := range p.Items {
		time, rate := 0.0, 0.0
		for j, x := range s.X[i] {
			if !(x >= 0) || it.Size[j] == 0 && x != 0 {
				t.Fatalf("item %d has %g of kind %d", i, x, j)
			}
			time, rate, used[j] = time+x, rate+x*it.Rate[j], used[j]+x*it.Size[j]
		}
		if time > 1+1e-6 || rate < level*it.Least*(1-1e-6) {
			t.Fatalf("item %d has %g of its time and the rate %g, want %g", i, time, rate, level*it.Least)
		}
		if i > 0 && &p.Items[i-1].Size[0] == &it.Size[0] {
			for j := range it.Size {
				if math.Abs(s.X[i][j]-s.X[i-1][j]) > 1e-7 {
					t.Fatalf("items alike have %v and %v", s.X[i-1], s.X[i])
				}
			}
		}
	}
	for j, u := range used {
		if u > p.Capacity[j]*(1+1e-6) {
			t.Fatalf("%g of kind %d, want at most %g", u, j, p.Capacity[j])
		}
	}
}

func TestLevel_is_proven_best(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := programs(t)
		s := p.Level(barrier.Settings{})
		if !s.Feasible {
			return
		}
		check(t, p, &s, s.Level)
		if gap := (s.Bound - s.Level) / s.Level; gap < -1e-6 || gap > 1e-4 {
			t.Fatalf("level %g, bound %g", s.Level, s.Bound)
		}
	})
}

func TestBest_is_proven_best(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := programs(t)
		if level := p.Level(barrier.Settings{}); level.Feasible {
			for i := range p.Items {
				p.Items[i].Least *= 0.9 * level.Level
			}
		}
		s := p.Best(barrier.Settings{})
		if !s.Feasible {
			return
		}
		check(t, p, &s, 1)
		most := 0.0
		for _, it := range p.Items {
			for _, g := range it.Gain {
				most = math.Max(most, math.Abs(g))
			}
		}
		if gap := (s.Bound - s.Objective) / math.Max(most, 1e-300); gap < -1e-5 || gap > 1e-3 {
			t.Fatalf("objective %g, bound %g, largest gain %g", s.Objective, s.Bound, most)
		}
	})
}

func BenchmarkLevel(b *testing.B) {
	p := barrier.Program{Capacity: []float64{86, 85, 85}}
	for i := range 900 {
		r := float64(1 + i%17)
		p.Items = append(p.Items, barrier.Item{
			Size: []float64{1, 1, 1}, Rate: []float64{5 * r, 2 * r, r + float64(i%3)}, Least: r,
		})
	}
	for b.Loop() {
		if s := p.Level(barrier.Settings{}); !s.Converged {
			b.Fatal("not converged")
		}
	}
}
