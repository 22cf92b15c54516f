package statistics

import (
	"math"
	"testing"
)

// The quantiles of the handbook's table 26.10, to its digits.
func TestStudent(t *testing.T) {
	for _, test := range []struct {
		p       float64
		freedom int
		want    float64
	}{
		{0.975, 1, 12.706},
		{0.975, 2, 4.303},
		{0.975, 3, 3.182},
		{0.975, 4, 2.776},
		{0.975, 9, 2.262},
		{0.975, 10, 2.228},
		{0.975, 30, 2.042},
		{0.975, 120, 1.980},
		{0.95, 1, 6.314},
		{0.95, 5, 2.015},
		{0.995, 2, 9.925},
		{0.75, 7, 0.711},
	} {
		if got := student(test.p, test.freedom); math.Abs(got-test.want) > 0.0005 {
			t.Errorf("p %v, %d degrees of freedom: got %v, want %v", test.p, test.freedom, got, test.want)
		}
	}
	if got := student(0.975, 100_000); math.Abs(got-1.95998) > 0.0001 {
		t.Errorf("100,000 degrees of freedom: got %v, want that of the normal distribution", got)
	}
}

func TestOf(t *testing.T) {
	if got := MeanInterval(nil, 0.95); got != (Interval{}) {
		t.Errorf("of nothing: %v", got)
	}
	if got := MeanInterval([]float64{3}, 0.95); got.Known || got.Mean != 3 || got.N != 1 {
		t.Errorf("of one value: %v", got)
	}
	// The mean is 2, the sample's standard deviation 1: 4.303/sqrt(3) = 2.484.
	if got := MeanInterval([]float64{1, 2, 3}, 0.95); !got.Known || got.Mean != 2 || math.Abs(got.High-4.484) > 0.001 || math.Abs(got.Low+0.484) > 0.001 {
		t.Errorf("of 1, 2, 3: %v", got)
	}
}
