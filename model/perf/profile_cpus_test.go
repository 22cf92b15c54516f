package perf_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/perf"
)

// searched runs a search over a curve and returns the CPU counts in the order
// measured, and the curve between them.
func searched(most int, rate func(cpus int) float64) ([]int, *perf.Sensitivity) {
	s := perf.NewCPUSearch(most)
	var order []int
	for c, ok := s.Next(); ok; c, ok = s.Next() {
		s.Learn(c, rate(c))
		order = append(order, c)
	}
	return order, &perf.Sensitivity{CPUs: s.Curve()}
}

func TestCPUSearch(t *testing.T) {
	step := func(at int, low, high float64) func(int) float64 {
		return func(c int) float64 {
			if c < at {
				return low
			}
			return high
		}
	}
	for _, c := range []struct {
		name string
		most int
		rate func(int) float64
		want []int
	}{
		{"insensitive: a plain binary search", 24, step(0, 1, 1), []int{24, 12, 6, 3, 1}},
		{"one CPU", 1, step(0, 1, 1), []int{1}},
		{"none", 0, step(0, 1, 1), nil},
		{"less than a tenth slower: on in the lower half only", 8, step(4, 1, 1.1), []int{8, 4, 2, 1}},
		{"a tenth slower: on in the upper half too", 8, step(4, 1, 1.2), []int{8, 4, 2, 1, 3}},
		{"a jump is found", 24, step(9, 1, 9), []int{24, 12, 6, 3, 1, 9, 7, 8}},
		{"linear", 8, func(c int) float64 { return float64(c) }, []int{8, 4, 2, 1, 3, 6, 5}},
		{"stalled below some CPUs", 8, step(5, 0, 1), []int{8, 4, 6, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := searched(c.most, c.rate)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A search ends, measures no CPU count twice, and leaves no range out that it
// had points left for.
func TestCPUSearch_ends_within_Points(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 200).Draw(t, "CPUs")
		rates := rapid.SliceOfN(rapid.Float64Range(0, 10), most+1, most+1).Draw(t, "rates")
		order, curve := searched(most, func(c int) float64 { return rates[c] })
		seen := make(map[int]bool)
		for _, c := range order {
			if c < 1 || c > most || seen[c] {
				t.Fatalf("points %v, want distinct ones of 1 to %d", order, most)
			}
			seen[c] = true
		}
		if len(order) > perf.CPUPoints(most) || float64(len(order)) > math.Log2(float64(most))+4 {
			t.Fatalf("%d points of %d CPUs", len(order), most)
		}
		for _, p := range curve.CPUs {
			if p.Rate != rates[int(p.CPUs)] {
				t.Fatalf("curve has %v, measured %g", p, rates[int(p.CPUs)])
			}
		}
		before := perf.CPURate{}
		for _, p := range curve.CPUs {
			if p.CPUs-before.CPUs > 1 && before.Rate < 0.9*p.Rate && len(order) < perf.CPUPoints(most) {
				t.Fatalf("%v: nothing measured between %v and %v", order, before, p)
			}
			before = p
		}
	})
}

// A matrix is a measured sensitivity matrix: rates relative to those of the
// GPU-proportional share.
type matrix struct {
	Model         string
	Ratio         int         `json:"cpu_gpu_ratio"`
	GPUs          int         `json:"profiled_gpus"`
	IterationTime float64     `json:"iter_time_s"` // with the share, seconds
	Cells         [][]float64 `json:"tput"`        // by CPUs, then by memory
}

// readMatrices returns the one-GPU matrices of Synergy's artefact and their CPUs.
func readMatrices(t *testing.T) (matrices []matrix, cpus []float64) {
	t.Helper()
	text, err := os.ReadFile(testdata.Path(t, "synergy/profiles.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		CPUs     []float64 `json:"cpu_axis"`
		Profiles []matrix
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, m := range file.Profiles {
		if m.GPUs == 1 {
			matrices = append(matrices, m)
		}
	}
	return matrices, file.CPUs
}

// curve returns the matrix with all memory: linear between measured CPU counts.
func (m *matrix) curve(cpus []float64) *perf.Sensitivity {
	s := &perf.Sensitivity{}
	for i, row := range m.Cells {
		s.CPUs = append(s.CPUs, perf.CPURate{CPUs: cpus[i], Rate: row[len(row)-1]})
	}
	return s
}

// Synergy §3.1, Fig. 5b: "Synergy is able to mimic the empirical job performance
// very closely, in under 8 minutes (using just 8 CPU profile points instead of
// 24)"; of a job with one GPU.
func TestCPUSearch_of_all_models_is_within_3_percent_with_8_points(t *testing.T) {
	matrices, cpus := readMatrices(t)
	if len(matrices) != 48 {
		t.Fatalf("%d matrices, want 12 models with 4 ratios of CPUs to GPUs", len(matrices))
	}
	for _, m := range matrices {
		truth := m.curve(cpus)
		rate := func(c int) float64 { return truth.Rate(float64(c), 0) }
		order, learned := searched(24, rate)
		worst, cost := 0.0, time.Duration(0)
		for c := 1; c <= 24; c++ {
			worst = math.Max(worst, math.Abs(learned.Rate(float64(c), 0)/rate(c)-1))
		}
		for _, c := range order {
			cost += perf.CPUProfileCost(time.Duration(m.IterationTime / rate(c) * float64(time.Second)))
		}
		name := fmt.Sprintf("%s with %d CPUs per GPU", m.Model, m.Ratio)
		if worst > 0.03 || len(order) > 8 || cost >= 8*time.Minute {
			t.Errorf("%s: points %v, %.1f %% off at worst, %v; want at most 8, 3 %% and 8m", name, order, 100*worst, cost)
		}
		if m.Ratio == 3 {
			t.Logf("%s: points %v, %.1f %% off at worst, %v", name, order, 100*worst, cost.Round(time.Second))
		}
	}
}

// A GPU that k CPUs are enough for, and one that is up to three times as fast as
// the measured one, so that more CPUs than measured are of use: the 10 % rule
// allows an error of about a tenth.
func TestCPUSearch_is_within_the_10_percent_rule(t *testing.T) {
	curves := make(map[string]*perf.Sensitivity)
	for k := 1.0; k <= 96; k++ {
		curves[fmt.Sprintf("%g CPUs are enough", k)] = &perf.Sensitivity{CPUs: []perf.CPURate{{CPUs: k, Rate: k}}}
	}
	matrices, cpus := readMatrices(t)
	for _, m := range matrices {
		for _, speed := range []float64{1, 1.5, 2, 3} {
			curves[fmt.Sprintf("%s, %d CPUs per GPU, %g times as fast", m.Model, m.Ratio, speed)] = faster(m.curve(cpus), speed)
		}
	}
	worst := 0.0
	for _, most := range []int{1, 2, 3, 4, 8, 12, 16, 24, 32, 48, 96} {
		for name, truth := range curves {
			order, learned := searched(most, func(c int) float64 { return truth.Rate(float64(c), 0) })
			for c := 1.0; c <= float64(most); c++ {
				off := math.Abs(learned.Rate(c, 0)/truth.Rate(c, 0) - 1)
				worst = max(worst, off)
				if off > 0.102 {
					t.Errorf("%s: points %v of %d, %.2g off at %g", name, order, most, off, c)
				}
			}
		}
	}
	t.Logf("%.1f %% off at worst", 100*worst)
}

// faster returns the curve of a GPU that is so many times as fast.
func faster(s *perf.Sensitivity, speed float64) *perf.Sensitivity {
	points := s.CPUs
	for len(points) > 1 && points[len(points)-2].Rate == points[len(points)-1].Rate {
		points = points[:len(points)-1]
	}
	top := points[len(points)-1]
	return &perf.Sensitivity{CPUs: append(slices.Clone(points), perf.CPURate{CPUs: speed * top.CPUs, Rate: speed * top.Rate})}
}

// The 10 % rule leaves a knee between two points out: then a curve may be as far
// off. Points grow with the logarithm of the CPUs.
func TestCPUSearch_over_other_ranges(t *testing.T) {
	matrices, cpus := readMatrices(t)
	for _, c := range []struct {
		most, points int
		off          float64
	}{{1, 1, 0}, {4, 4, 0}, {8, 7, 1e-9}, {12, 7, 0.021}, {16, 8, 0.1}, {32, 9, 0.1}, {48, 9, 0.021}, {96, 10, 0.021}} {
		worst, points := 0.0, 0
		for _, m := range matrices {
			truth := m.curve(cpus)
			order, learned := searched(c.most, func(c int) float64 { return truth.Rate(float64(c), 0) })
			points = max(points, len(order))
			for k := 1.0; k <= float64(c.most); k++ {
				worst = math.Max(worst, math.Abs(learned.Rate(k, 0)/truth.Rate(k, 0)-1))
			}
		}
		if points != c.points || worst > c.off {
			t.Errorf("%d CPUs: %d points, %.3g off; want %d and at most %.3g", c.most, points, worst, c.points, c.off)
		}
	}
}
