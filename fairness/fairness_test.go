package fairness

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRho(t *testing.T) {
	tests := []struct {
		name     string
		jct      time.Duration
		isolated []Isolated
		want     float64
		ok       bool
	}{
		{"one type is the homogeneous definition", 3 * time.Hour, []Isolated{{64, 2 * time.Hour}}, 1.5, true},
		{"types are weighted by their GPUs", 2 * time.Hour, []Isolated{{48, time.Hour}, {16, 4 * time.Hour}}, 0.75*2 + 0.25*0.5, true},
		{"a type it cannot run on is left out", 2 * time.Hour, []Isolated{{48, 0}, {16, 4 * time.Hour}}, 0.5, true},
		{"it can run nowhere", time.Hour, []Isolated{{48, 0}, {0, time.Hour}}, 0, false},
		{"no types", time.Hour, nil, 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := Rho(test.jct, test.isolated)
			if math.Abs(got-test.want) > 1e-12 || ok != test.ok {
				t.Errorf("Rho = %v, %v; want %v, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

// Sia §3.5.5: "rho can be interpreted as the expectation of the FTF ratio
// taken over multiple GPU types": it lies between the extremes of the types.
func TestRhoIsAMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jct := time.Duration(rapid.Int64Range(1, 1e15).Draw(t, "jct"))
		low, high := math.Inf(1), 0.0
		var isolated []Isolated
		for range rapid.IntRange(1, 5).Draw(t, "types") {
			i := Isolated{rapid.IntRange(1, 1000).Draw(t, "gpus"), time.Duration(rapid.Int64Range(1, 1e15).Draw(t, "isolated"))}
			isolated = append(isolated, i)
			low, high = min(low, float64(jct)/float64(i.JCT)), max(high, float64(jct)/float64(i.JCT))
		}
		rho, ok := Rho(jct, isolated)
		if !ok || rho < low*(1-1e-12) || rho > high*(1+1e-12) {
			t.Fatalf("Rho = %v, %v; want within [%v, %v]", rho, ok, low, high)
		}
	})
}

func TestFairShare(t *testing.T) {
	if got := FairShare(64, 8); got != 8 {
		t.Errorf("FairShare(64, 8) = %v, want 8", got)
	}
	if got := FairShare(64, 0.5); got != 64 {
		t.Errorf("FairShare(64, 0.5) = %v, want all 64", got)
	}
}

func TestWorstAndUnfairFraction(t *testing.T) {
	rhos := []float64{0.5, 1, 1.2, 0.9}
	if got := Worst(rhos); got != 1.2 {
		t.Errorf("Worst = %v, want 1.2", got)
	}
	if got := UnfairFraction(rhos, 1); got != 0.25 {
		t.Errorf("UnfairFraction = %v, want 0.25: exactly 1 is fair", got)
	}
	if got := UnfairFraction(rhos, 0.8); got != 0.75 {
		t.Errorf("UnfairFraction above 0.8 = %v, want 0.75", got)
	}
	if Worst(nil) != 0 || UnfairFraction(nil, 1) != 0 {
		t.Error("no ratios: want 0 and 0")
	}
}
