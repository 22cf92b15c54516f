package mmkp

import "testing"

func TestMemo_better(t *testing.T) {
	var m memo
	m.reset(2)
	for _, step := range []struct {
		name   string
		depth  int
		rest   []float64
		regret float64
		want   bool
	}{
		{"never seen", 3, []float64{4, 8}, 0.5, false},
		{"again as it was", 3, []float64{4, 8}, 0.5, true},
		{"again and worse", 3, []float64{4, 8}, 0.6, true},
		{"again and better", 3, []float64{4, 8}, 0.4, false},
		{"now that is the one to beat", 3, []float64{4, 8}, 0.5, true},
		{"another capacity", 3, []float64{4, 7}, 0.5, false},
	} {
		if got := m.better(step.depth, step.rest, step.regret); got != step.want {
			t.Errorf("%s: got %v, want %v", step.name, got, step.want)
		}
	}
	m.reset(2)
	if m.better(3, []float64{4, 8}, 9) {
		t.Error("remembered over a reset")
	}
}

func TestMemo_states_that_share_an_entry_are_told_apart(t *testing.T) {
	var m memo
	m.reset(1)
	for n := range 4 * memoSize {
		if m.better(n, []float64{1}, 0) {
			t.Fatalf("depth %d: taken for another depth", n)
		}
		if m.better(-1, []float64{float64(n)}, 0) {
			t.Fatalf("capacity %d: taken for another one", n)
		}
	}
}
