package statistics_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// shortest returns the mean of completion less readiness on one GPU, if the job with the least left
// runs: no schedule of one machine has a smaller one.
func shortest(jobs []statistics.Task) float64 {
	left := make([]float64, len(jobs))
	for i, j := range jobs {
		left[i] = j.Fastest
	}
	now, sum := 0.0, 0.0
	for open := len(jobs); open > 0; {
		best, next := -1, math.Inf(1)
		for i, j := range jobs {
			switch {
			case left[i] <= 0:
			case j.Ready > now:
				next = min(next, j.Ready)
			case best < 0 || left[i] < left[best]:
				best = i
			}
		}
		if best < 0 {
			now = next
			continue
		}
		run := min(left[best], next-now)
		now += run
		if left[best] -= run; left[best] <= 1e-9 {
			left[best] = 0
			sum += now - jobs[best].Ready
			open--
		}
	}
	return sum / float64(len(jobs))
}

// TestMean_of_one_machine: where the best schedule is known, the bound is below it, and not far.
func TestMean_of_one_machine(t *testing.T) {
	seed := draws.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 3 {
		jobs := make([]statistics.Task, 30)
		for i := range jobs {
			p := math.Exp(rng.Float64()*3) * 60
			jobs[i] = statistics.Task{Ready: rng.Float64() * 4 * 3600, Fastest: p, GPUSeconds: []float64{p}}
		}
		best := shortest(jobs)
		got := statistics.LowerBound(jobs, []float64{1}, best)
		t.Logf("bound %.1f, best %.1f", got, best)
		if got > best*(1+1e-9) || got < 0.8*best {
			t.Errorf("seed %d: bound %v, want at most %v, the best, and at least 0.8 of it", seed, got, best)
		}
	}
}

// TestMean_alone: jobs that do not disturb one another take as long as the fastest.
func TestMean_alone(t *testing.T) {
	jobs := []statistics.Task{{Ready: 0, Fastest: 100, GPUSeconds: []float64{400, 0}}, {Ready: 5000, Fastest: 300, GPUSeconds: []float64{0, 300}}}
	if got := statistics.LowerBound(jobs, []float64{4, 1}, 1000); math.Abs(got-200) > 1 {
		t.Errorf("got %v, want 200", got)
	}
	if got := statistics.LowerBound(nil, []float64{1}, 1); got != 0 {
		t.Errorf("got %v of no jobs, want 0", got)
	}
}

// TestMean_is_below_lists: whatever the known mean, the bound is below the schedules of lists on two types.
func TestMean_is_below_lists(t *testing.T) {
	seed := draws.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 4))
	for range 3 {
		gpus := []float64{float64(1 + rng.IntN(4)), float64(1 + rng.IntN(4))}
		var jobs []statistics.Task
		for range 12 {
			p := math.Exp(rng.Float64()*2) * 60
			jobs = append(jobs, statistics.Task{Ready: rng.Float64() * 3600, Fastest: p, GPUSeconds: []float64{p * (1 + rng.Float64()), p * (1 + rng.Float64())}})
		}
		best := math.Inf(1)
		for range 200 {
			best = min(best, list(rng, jobs, gpus))
		}
		for _, known := range []float64{best, 2 * best, best / 2} {
			if got := statistics.LowerBound(jobs, gpus, known); got > best || got <= 0 {
				t.Errorf("seed %d: known %v: bound %v, want it below %v of a schedule", seed, known, got, best)
			}
		}
	}
}

// list runs jobs in random order, each on one GPU of either type, at its speed there.
func list(rng *rand.Rand, jobs []statistics.Task, gpus []float64) float64 {
	free := [][]float64{make([]float64, int(gpus[0])), make([]float64, int(gpus[1]))}
	sum := 0.0
	for _, i := range rng.Perm(len(jobs)) {
		j := jobs[i]
		k := rng.IntN(2)
		at := slices.Index(free[k], slices.Min(free[k]))
		end := max(free[k][at], j.Ready) + j.GPUSeconds[k]
		free[k][at] = end
		sum += end - j.Ready
	}
	return sum / float64(len(jobs))
}
