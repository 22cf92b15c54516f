package perf_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

const gb = 1_000_000_000

// m5 is a job that needs both CPUs and memory.
func m5() *perf.Sensitivity {
	return &perf.Sensitivity{
		CPUs:  []perf.CPURate{{1, 0.3}, {2, 0.66}, {3, 1}, {4, 1.2}, {5, 1.4}, {6, 2.5}},
		Input: job.Input{Working: 62_500_000_000, Dataset: 250 * gb, Storage: 1.5},
	}
}

func TestSensitivityRate(t *testing.T) {
	for _, c := range []struct {
		name   string
		cpus   float64
		memory int64
		want   float64
	}{
		{"measured point, all that is needed cached", 4, 250 * gb, 1.2},
		{"between points", 5.5, 312_500_000_000, 1.95},
		{"below the first point", 0.5, 312_500_000_000, 0.15},
		{"beyond the last point", 24, 312_500_000_000, 2.5},
		{"nothing cached: storage alone", 6, 62_500_000_000, 1.5},
		{"a quarter cached", 6, 125 * gb, 2},
		{"too little to run", 6, 62 * gb, 0},
	} {
		if got := m5().Rate(c.cpus, c.memory); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: rate %g, want %g", c.name, got, c.want)
		}
	}
	if got := new(perf.Sensitivity).Rate(0, 0); !math.IsInf(got, 1) {
		t.Errorf("a job that is sensitive to nothing is fed %g samples/s, want no limit", got)
	}
}

func TestSensitivityCells(t *testing.T) {
	share, most := cluster.Resources{CPUs: 3, Memory: 62_500_000_000}, cluster.Resources{CPUs: 24, Memory: 500 * gb}
	got := m5().Cells(2.5, share, most)
	want := []perf.Cell{{3, 62_500_000_000, 1}, {4, 62_500_000_000, 1.2}, {5, 62_500_000_000, 1.4}, {6, 62_500_000_000, 1.5}, {6, 125 * gb, 2}, {6, 162_500_000_000, 2.5}}
	if len(got) != len(want) {
		t.Fatalf("cells %v, want %v", got, want)
	}
	for i := range want {
		if d := got[i].Memory - want[i].Memory; got[i].CPUs != want[i].CPUs || got[i].Rate != want[i].Rate || d < 0 || d > 2 {
			t.Errorf("cell %d: %v, want %v", i, got[i], want[i])
		}
	}
}

// What nothing is known of is not taken from a job.
func TestCells_have_their_share_of_what_is_not_known(t *testing.T) {
	share := cluster.Resources{CPUs: 3, Memory: 60 * gb}
	curve := []perf.CPURate{{CPUs: 1, Rate: 10}}
	for want, s := range map[perf.Cell]perf.Sensitivity{
		{CPUs: 3, Memory: 60 * gb, Rate: 10}: {},
		{CPUs: 1, Memory: 60 * gb, Rate: 10}: {CPUs: curve},
		{CPUs: 3, Memory: 20 * gb, Rate: 10}: {Input: job.Input{Working: 20 * gb}},
		{CPUs: 1, Memory: 20 * gb, Rate: 10}: {CPUs: curve, Input: job.Input{Working: 20 * gb}},
	} {
		if got := s.Cells(10, share, cluster.Resources{CPUs: 24, Memory: 500 * gb}); !slices.Equal(got, []perf.Cell{want}) {
			t.Errorf("got %v, want %v alone", got, want)
		}
	}
}

// Synergy §1: a job gets less than the GPU-proportional share only if that does
// not slow it down.
func TestCells_no_slower_than_the_share_and_none_dominated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, share, most, rate := drawSensitivity(t)
		fair := math.Min(rate, s.Rate(share.CPUs, share.Memory))
		cells := s.Cells(rate, share, most)
		if len(cells) == 0 && fair > 0 {
			t.Fatal("no cells, want at least that of the share")
		}
		for i, c := range cells {
			if got := math.Min(rate, s.Rate(c.CPUs, c.Memory)); got < c.Rate*(1-1e-9) {
				t.Errorf("cell %v: fed %g", c, got)
			}
			if c.Rate < fair*(1-1e-9) || i > 0 && c.Rate <= cells[i-1].Rate {
				t.Errorf("cell %v after %v, share has %g: want faster ones", c, cells[max(0, i-1)], fair)
			}
			if c.CPUs > most.CPUs || c.Memory > most.Memory {
				t.Errorf("cell %v, want at most %v", c, most)
			}
			for _, d := range cells[i+1:] {
				if d.CPUs <= c.CPUs && d.Memory <= c.Memory {
					t.Errorf("cell %v, although %v is faster for no more", c, d)
				}
			}
		}
		if fair > 0 && (cells[0].CPUs > share.CPUs || cells[0].Memory > share.Memory) {
			t.Errorf("the first cell %v asks for more than the share %v", cells[0], share)
		}
	})
}

func drawSensitivity(t *rapid.T) (s *perf.Sensitivity, share, most cluster.Resources, rate float64) {
	s = &perf.Sensitivity{}
	cpus, last := 0.0, 0.0
	for range rapid.IntRange(0, 9).Draw(t, "points") {
		cpus += float64(rapid.IntRange(1, 4).Draw(t, "more CPUs"))
		last += rapid.Float64Range(0, 2).Draw(t, "more rate")
		s.CPUs = append(s.CPUs, perf.CPURate{CPUs: cpus, Rate: last})
	}
	s.Working = int64(rapid.IntRange(0, 100).Draw(t, "working")) * gb
	s.Dataset = int64(rapid.IntRange(0, 300).Draw(t, "dataset")) * gb
	s.Storage = rapid.Float64Range(0, 3).Draw(t, "storage")
	gpus := float64(rapid.IntRange(1, 8).Draw(t, "GPUs"))
	most = cluster.Resources{CPUs: float64(rapid.IntRange(1, 96).Draw(t, "CPUs")), Memory: int64(rapid.IntRange(1, 1000).Draw(t, "memory")) * gb}
	share = cluster.Resources{CPUs: most.CPUs / gpus, Memory: most.Memory / int64(gpus)}
	return s, share, most, rapid.Float64Range(0.1, 5).Draw(t, "rate")
}
