package exact_test

import (
	"errors"
	"testing"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// two returns two items that both want the four units there are.
func two(must bool) *mmkp.Problem {
	want := []mmkp.Choice{
		{Value: 1, Use: mmkp.Use{Amount: 3}},
		{Value: 3, Use: mmkp.Use{Amount: 4}},
	}
	return &mmkp.Problem{
		Capacity: []float64{4, 7}, // nobody uses the second
		Items:    []mmkp.Item{{Choices: want, Must: must}, {}, {Choices: want[:1], Must: must}},
	}
}

func TestSolve(t *testing.T) {
	s, err := exact.Solve(t.Context(), two(false))
	if !exact.Available {
		if !errors.Is(err, exact.ErrUnavailable) {
			t.Fatalf("error %v, want ErrUnavailable", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if s.Value != 3 || s.Bound != 3 || s.Pick[0] != 1 || s.Pick[1] != -1 || s.Pick[2] != -1 {
		t.Errorf("got %+v, want the first item's second choice, value 3", s)
	}
}

func TestSolve_items_that_must_be_served_do_not_fit(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	if _, err := exact.Solve(t.Context(), two(true)); !errors.Is(err, mmkp.ErrInfeasible) {
		t.Errorf("error %v, want ErrInfeasible", err)
	}
}

func TestSolve_no_items(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	s, err := exact.Solve(t.Context(), &mmkp.Problem{Capacity: []float64{1}})
	if err != nil || s.Value != 0 || len(s.Pick) != 0 {
		t.Errorf("got %+v, %v, want nothing", s, err)
	}
}

func TestSolve_bad_numbers_are_refused(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	p := two(false)
	p.Capacity[0] = -1
	if _, err := exact.Solve(t.Context(), p); err == nil || err.Error() != "resource 0: capacity -1, want finite and at least 0" {
		t.Errorf("error %v, want one about the capacity", err)
	}
}
