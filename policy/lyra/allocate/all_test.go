package allocate

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// Where all best choices fit, they are the solution that the solver finds, at the same prices.
func TestAll_is_what_the_solver_finds(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		r := &round{Allocator: new(Allocator)}
		for range rapid.IntRange(1, 8).Draw(t, "jobs") {
			r.items = append(r.items, mmkp.Item{Choices: choices(t)})
		}
		r.free[Training].Free, r.free[Loaned].Free = rapid.IntRange(0, 60).Draw(t, "free"), rapid.IntRange(0, 60).Draw(t, "lent")
		got, ok := r.all()
		if !ok {
			return
		}
		found++
		o := mmkp.DefaultOptions()
		o.Gap = 0
		p := &mmkp.Problem{Capacity: []float64{float64(r.free[Training].Free), float64(r.free[Loaned].Free)}, Items: r.items}
		want, err := mmkp.NewSolver().Solve(t.Context(), p, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Pick, want.Pick) || got.Value != want.Value || got.Bound > want.Bound*(1+1e-12) || slices.Max(want.Prices) != 0 {
			t.Fatalf("%v worth %v at no price, want %v worth %v at %v", got.Pick, got.Value, want.Pick, want.Value, want.Prices)
		}
	})
	if found == 0 {
		t.Error("no problem in which all fit was drawn")
	}
}

func choices(t *rapid.T) (all []mmkp.Choice) {
	side := rapid.IntRange(0, 1).Draw(t, "side")
	value := rapid.OneOf(rapid.SampledFrom([]float64{0, 10, 20}), rapid.Float64Range(-50, 100))
	gpus := 0
	for range rapid.IntRange(1, 4).Draw(t, "choices") {
		gpus += rapid.IntRange(1, 4).Draw(t, "GPUs")
		all = append(all, mmkp.Choice{Value: value.Draw(t, "value"), Use: mmkp.Use{Resource: side, Amount: float64(gpus)}})
	}
	return all
}
