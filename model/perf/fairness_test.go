package perf

import (
	"math"
	"slices"
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
	if got := WorstRho(rhos); got != 1.2 {
		t.Errorf("Worst = %v, want 1.2", got)
	}
	if got := UnfairFraction(rhos, 1); got != 0.25 {
		t.Errorf("UnfairFraction = %v, want 0.25: exactly 1 is fair", got)
	}
	if got := UnfairFraction(rhos, 0.8); got != 0.75 {
		t.Errorf("UnfairFraction above 0.8 = %v, want 0.75", got)
	}
	if WorstRho(nil) != 0 || UnfairFraction(nil, 1) != 0 {
		t.Error("no ratios: want 0 and 0")
	}
}

func TestEstimate(t *testing.T) {
	const h = time.Hour
	tests := []struct {
		name                               string
		attained, waited, remaining, total time.Duration
		contention, want                   float64
	}{
		{"alone and never waiting", h, 0, h, 2 * h, 1, 1},
		{"alone, but it waited", h, h, h, 2 * h, 1, 1.5},
		{"one of two, served every other hour", h, h, h, 2 * h, 2, 1},
		{"one of two, and it waited for three turns", h, 3 * h, h, 2 * h, 2, 1.5},
		{"one of two, and it never waited", h, 0, h, 2 * h, 2, 0.75},
		{"fewer jobs than GPUs do not make it faster", h, h, h, 2 * h, 0.5, 1.5},
		{"done", 2 * h, 4 * h, 0, 2 * h, 3, 1},
		{"nothing to do", h, h, 0, 0, 3, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Life{test.attained, test.waited, test.remaining, test.total}.Estimate(test.contention)
			if math.Abs(got-test.want) > 1e-12 {
				t.Errorf("Estimate = %v, want %v", got, test.want)
			}
		})
	}
}

// draw draws a time of up to twelve days.
func draw(t *rapid.T, what string) time.Duration {
	return time.Duration(rapid.Int64Range(1, 1e15).Draw(t, what))
}

// A job that begins is heading for its fair share, however many compete; waiting makes it
// worse, and having waited the same among more jobs is fairer.
func TestEstimateGrowsWithWaiting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Float64Range(0, 1000).Draw(t, "contention")
		total, attained, waited := draw(t, "total"), draw(t, "attained"), draw(t, "waited")
		if rho := (Life{Remaining: total, Total: total}).Estimate(n); rho != 1 {
			t.Errorf("rho of a job that begins is %v, want 1", rho)
		}
		remaining := time.Duration(rapid.Int64Range(0, int64(total)).Draw(t, "remaining"))
		rho := Life{attained, waited, remaining, total}.Estimate(n)
		if longer := (Life{attained, 2*waited + time.Second, remaining, total}).Estimate(n); longer <= rho {
			t.Errorf("rho is %v, and %v if it waits longer", rho, longer)
		}
		if among := (Life{attained, waited, remaining, total}).Estimate(n + 1); among > rho*(1+1e-12) {
			t.Errorf("rho is %v, and %v among more jobs", rho, among)
		}
	})
}

func TestMakespanBound(t *testing.T) {
	const h = time.Hour
	tests := []struct {
		name string
		left []time.Duration
		size []int
		gpus int
		want time.Duration
	}{
		{"no jobs", nil, nil, 4, 0},
		{"the longest job", []time.Duration{5 * h, h, h}, []int{1, 1, 1}, 4, 5 * h},
		{"jobs of one GPU: Eq. 10", []time.Duration{3 * h, 3 * h, 2 * h}, []int{1, 1, 1}, 2, 4 * h},
		{"a gang counts with all its GPUs", []time.Duration{2 * h, 2 * h}, []int{4, 2}, 4, 3 * h},
		{"no GPUs count as one", []time.Duration{h, h}, []int{1, 1}, 0, 2 * h},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := MakespanBound(test.left, test.size, test.gpus); got != test.want {
				t.Errorf("MakespanBound = %v, want %v", got, test.want)
			}
		})
	}
}

// greedy returns when the last job ends if each in turn gets the GPUs that are free first.
func greedy(left []time.Duration, size []int, gpus int) time.Duration {
	free := make([]time.Duration, gpus) // from when on, by GPU
	for i, n := range size {
		slices.Sort(free)
		end := free[n-1] + left[i]
		for g := range n {
			free[g] = end
		}
	}
	return slices.Max(free)
}

// Shockwave App. G.2, Eq. 10: no schedule ends before the longest job could, or with less
// GPU time than all jobs need; none that is greedy, in any order of the jobs.
func TestMakespanBoundIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gpus := rapid.IntRange(1, 16).Draw(t, "gpus")
		var left []time.Duration
		var size []int
		area := 0.0
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			left = append(left, draw(t, "left"))
			size = append(size, rapid.IntRange(1, gpus).Draw(t, "size"))
			area += float64(left[len(left)-1]) * float64(size[len(size)-1])
		}
		bound := MakespanBound(left, size, gpus)
		if end := greedy(left, size, gpus); bound > end+time.Microsecond { // rounding
			t.Errorf("bound %v, but all jobs can end after %v", bound, end)
		}
		if longest := slices.Max(left); bound < longest || float64(bound+time.Microsecond)*float64(gpus) < area {
			t.Errorf("bound %v, want at least %v and %v GPU-ns", bound, longest, area)
		}
	})
}
