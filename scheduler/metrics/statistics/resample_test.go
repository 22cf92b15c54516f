package statistics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// stretch draws jobs of so many days, of which each has its own level of waiting and of gain.
func stretch(draw *rand.Rand, days int) []statistics.Pair {
	var pairs []statistics.Pair
	for d := range days {
		level, gain := 3600*math.Exp(0.7*draw.NormFloat64()), 0.5*math.Exp(0.3*draw.NormFloat64())
		for range 40 {
			was := level * draw.ExpFloat64()
			pairs = append(pairs, statistics.Pair{At: 86400 * (float64(d) + draw.Float64()), Was: was, Would: gain * was})
		}
	}
	return pairs
}

// TestBetween_holds: of stretches that were drawn alike, four of five have a change in the range that another of them says.
func TestBetween_holds(t *testing.T) {
	draw := rng.Stream(7, "stretches")
	const tries = 400
	held := 0
	for i := range tries {
		said, then := statistics.Between(stretch(draw, 20), uint64(i)), statistics.Between(stretch(draw, 20), 0)
		if then.Ratio >= said.Low && then.Ratio <= said.High {
			held++
		}
	}
	if part := float64(held) / tries; part < 0.74 || part > 0.86 {
		t.Errorf("%.0f %% hold, want about 80", 100*part)
	}
}

func TestBetween(t *testing.T) {
	none := statistics.Change{Ratio: 1, High: math.Inf(1)}
	if got := statistics.Between(nil, 1); got != none {
		t.Errorf("without pairs: %v, want %v", got, none)
	}
	one := statistics.Between([]statistics.Pair{{At: 5, Was: 99, Would: 49}}, 1)
	if one.Ratio != 0.5 || one.Low != 0 || !math.IsInf(one.High, 1) {
		t.Errorf("one job: %v, want a half, and a range without bounds", one)
	}
	zero := statistics.Between([]statistics.Pair{{At: 0}, {At: 1, Would: 8}}, 1)
	if zero.Ratio != 5 || zero.Low != 0 || !math.IsInf(zero.High, 1) {
		t.Errorf("one waited: %v, want a ratio of 5, and a range without bounds", zero)
	}
	two := statistics.Between([]statistics.Pair{{At: 0, Was: 9, Would: 19}, {At: 1, Was: 9, Would: 19}}, 1)
	if two.Ratio != 2 || two.Low != 2 || two.High != 2 {
		t.Errorf("two alike: %v, want 2 and no more", two)
	}
}
