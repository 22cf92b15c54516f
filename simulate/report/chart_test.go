package report

import (
	"math"
	"slices"
	"testing"
)

// Labels do not cover one another.
func TestApart(t *testing.T) {
	got := apart([]float64{100, 101, 40})
	for i := range got {
		for k := range i {
			if math.Abs(got[i]-got[k]) < 14 {
				t.Errorf("labels at %v", got)
			}
		}
	}
}

// What has no logarithm lies at the lower end; of no lines a figure says so.
func TestLines_logarithmic(t *testing.T) {
	c := Lines{Logarithmic: true, Lines: []Line{{Name: "a", X: []float64{0, 1, 2}, Y: []float64{0, 1, 100}}}}
	if got, want := c.Figure().Curves[0].Points, "70.0,240.0 300.0,240.0 530.0,15.0"; got != want {
		t.Errorf("points %q, want %q", got, want)
	}
	if f := (&Lines{Logarithmic: true}).Figure(); len(f.Texts) != 1 || f.Texts[0].Text != "nothing to draw" {
		t.Errorf("no lines: %+v", f.Texts)
	}
}

func TestValues(t *testing.T) {
	for _, tt := range []struct {
		low, high float64
		want      []float64
	}{
		{9, 250, []float64{10, 20, 50, 100, 200}},
		{100, 130, []float64{100, 110, 120, 130}},
		{95, 170, []float64{100, 120, 140, 160}},
		{5, 5, []float64{5}},
		{1e16, 1e17, []float64{1e16, 2e16, 5e16, 1e17}}, // the dearest GPUs there may be
		{4e16, 4.1e16, []float64{4e16, 4.02e16, 4.04e16, 4.06e16, 4.08e16, 4.1e16}},
	} {
		got := Axis{Low: tt.low, High: tt.high, Log: true}.Values(Decades())
		if !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }) {
			t.Errorf("%g to %g: got %v, want %v", tt.low, tt.high, got, tt.want)
		}
	}
}
