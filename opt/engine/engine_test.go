package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/oxgang/oxgang/opt/copter" // the engine
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/mmkp"
)

func each(t *testing.T, test func(t *testing.T, name string)) {
	for _, name := range engine.Names() {
		t.Run(name, func(t *testing.T) {
			if err := engine.Check(name); errors.Is(err, exact.ErrUnavailable) {
				t.Skip(err)
			}
			test(t, name)
		})
	}
}

// state is what an engine was told: the items as they are worth now.
type state struct {
	capacity   []float64
	items      map[int]mmkp.Item
	adjustment map[int]mmkp.Adjustment
}

// problem returns the state as one problem, items by number.
func (s *state) problem(n int) *mmkp.Problem {
	p := &mmkp.Problem{Capacity: s.capacity, Items: make([]mmkp.Item, n)}
	for i, it := range s.items {
		p.Items[i] = mmkp.Item{Must: it.Must}
		for j, c := range it.Choices {
			a := s.adjustment[i]
			if j == a.Kept {
				a.Factor = a.KeptFactor
			}
			c.Value = a.Base + a.Factor*c.Value
			p.Items[i].Choices = append(p.Items[i].Choices, c)
		}
	}
	return p
}

func drawItem(t *rapid.T) mmkp.Item {
	var it mmkp.Item
	for k := range 2 {
		gain := rapid.Float64Range(0.1, 2).Draw(t, "gain")
		for n := 1.0; n <= float64(rapid.IntRange(0, 5).Draw(t, "most")); n++ {
			it.Choices = append(it.Choices, mmkp.Choice{Value: -gain / n, Use: mmkp.Use{Resource: k, Amount: n}})
		}
	}
	return it
}

// edit changes something of the engine, and of the state beside it.
func edit(t *rapid.T, e engine.Engine, s *state) {
	i := rapid.IntRange(0, 7).Draw(t, "item")
	var err error
	switch kind := rapid.IntRange(0, 5).Draw(t, "edit"); {
	case kind == 0 && len(s.items[i].Choices) > 0:
		delete(s.items, i)
		err = e.Remove(i)
	case kind == 1:
		k, b := rapid.IntRange(0, 1).Draw(t, "resource"), float64(rapid.IntRange(0, 9).Draw(t, "capacity"))
		s.capacity[k] = b
		err = e.SetCapacity(k, b)
	case kind == 2 && len(s.items[i].Choices) > 0:
		weight := rapid.SampledFrom([]float64{0.5, 1, 4}).Draw(t, "weight")
		s.adjustment[i] = mmkp.Adjustment{
			Base: weight * rapid.Float64Range(0, 3).Draw(t, "base"), Factor: weight * rapid.Float64Range(1, 3).Draw(t, "factor"),
			Kept: 0, KeptFactor: weight, // never dropped
		}
		err = e.Adjust(i, s.adjustment[i])
	default:
		it := drawItem(t)
		s.items[i], s.adjustment[i] = it, mmkp.Adjustment{Base: 2, Factor: 1, Kept: -1}
		if err = e.Set(i, it); err == nil {
			err = e.Adjust(i, s.adjustment[i])
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever was edited, what is picked fits, is worth what is said, and the bound
// is no less than the optimum.
func TestEngines_agree_with_the_program_they_were_told(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	each(t, func(t *testing.T, name string) {
		rapid.Check(t, func(t *rapid.T) {
			s := &state{[]float64{4, 6}, map[int]mmkp.Item{}, map[int]mmkp.Adjustment{}}
			e, err := engine.New(name, s.capacity, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				for range rapid.IntRange(1, 6).Draw(t, "edits") {
					edit(t, e, s)
				}
				checkRound(t, name, e, s)
			}
		})
	})
}

func checkRound(t *rapid.T, name string, e engine.Engine, s *state) {
	got, err := e.Solve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p := s.problem(max(8, len(got.Pick)))
	for len(got.Pick) < len(p.Items) {
		got.Pick = append(got.Pick, -1)
	}
	value, used := p.Value(got.Pick)
	for k, b := range s.capacity {
		if used[k] > b*(1+1e-9) {
			t.Fatalf("resource %d: %v used of %v", k, used[k], b)
		}
	}
	best, err := exact.Solve(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	const rounding = 1e-6
	if diff := value - got.Value; diff > rounding || diff < -rounding {
		t.Errorf("value %v, but the picks are worth %v", got.Value, value)
	}
	if got.Bound < best.Value-rounding || got.Value > best.Value+rounding {
		t.Errorf("value %v and bound %v, optimum %v", got.Value, got.Bound, best.Value)
	}
	if whole := name == "price" || name == "exact"; whole && got.Value < best.Value-rounding {
		t.Errorf("value %v, want the optimum %v", got.Value, best.Value)
	}
	if len(got.Prices) != len(s.capacity) {
		t.Errorf("%d prices, want %d", len(got.Prices), len(s.capacity))
	}
}

func TestEngines_serve_what_must_be(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		e, err := engine.New(name, []float64{4}, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		use := func(n float64) mmkp.Use { return mmkp.Use{Amount: n} }
		pinned := mmkp.Item{Choices: []mmkp.Choice{{Use: use(3)}}, Must: true}
		rich := mmkp.Item{Choices: []mmkp.Choice{{Value: 1, Use: use(1)}, {Value: 9, Use: use(4)}}}
		for i, it := range []mmkp.Item{rich, pinned} {
			if err := e.Set(i, it); err != nil {
				t.Fatal(err)
			}
		}
		s, err := e.Solve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Pick[1] != 0 || s.Pick[0] == 1 {
			t.Errorf("picks %v, want the pinned one served, and no more than fits", s.Pick)
		}
		if err := e.SetCapacity(0, 2); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Solve(t.Context()); !errors.Is(err, mmkp.ErrInfeasible) && !errors.Is(err, mmkp.ErrLimit) {
			t.Errorf("error %v, want that it does not fit", err)
		}
	})
}

func TestEngines_refuse(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		if _, err := engine.New(name, []float64{-1}, engine.Options{}); err == nil {
			t.Error("takes a negative capacity")
		}
		e, err := engine.New(name, []float64{1}, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bad := mmkp.Item{Choices: []mmkp.Choice{{Use: mmkp.Use{Amount: -1}}}}
		for i, err := range []error{
			e.Set(0, bad), e.Set(-1, mmkp.Item{}), e.Remove(3), e.Remove(-1), e.Adjust(3, mmkp.Adjustment{Base: 0, Factor: 1, Kept: -1, KeptFactor: 1}), e.SetCapacity(1, 1), e.SetCapacity(0, -1),
		} {
			if err == nil {
				t.Errorf("edit %d: no complaint", i)
			}
		}
		if err := e.Set(0, mmkp.Item{Choices: []mmkp.Choice{{Value: 1, Use: mmkp.Use{Amount: 1}}}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Adjust(0, mmkp.Adjustment{Base: 0, Factor: 0, Kept: -1, KeptFactor: 1}); err == nil {
			t.Error("takes a factor of 0")
		}
		if s, err := e.Solve(t.Context()); err != nil || s.Value != 1 {
			t.Errorf("got %+v, %v, want the item served", s, err)
		}
	})
}

func ExampleNew() {
	e, err := engine.New("price", []float64{4}, engine.Options{}) // four GPUs
	if err != nil {
		panic(err)
	}
	for job, speed := range []float64{1, 3} {
		var it mmkp.Item
		for _, gpus := range []float64{1, 2, 4} {
			it.Choices = append(it.Choices, mmkp.Choice{Value: speed * gpus / (1 + gpus), Use: mmkp.Use{Amount: gpus}})
		}
		if err := e.Set(job, it); err != nil {
			panic(err)
		}
	}
	s, err := e.Solve(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Printf("picks %v, worth %.3f, at most %.3f are possible\n", s.Pick, s.Value, s.Bound)
	// Output: picks [1 1], worth 2.667, at most 2.667 are possible
}
