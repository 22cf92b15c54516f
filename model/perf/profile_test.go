package perf_test

import (
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

func TestLadder(t *testing.T) {
	most := func(n int) map[cluster.GPUType]int { return map[cluster.GPUType]int{"a100": n} }
	for _, c := range []struct {
		name   string
		limits job.BatchLimits
		rungs  int
		want   []int
	}{
		{"by equal ratios", job.BatchLimits{LocalMin: 32, Max: 65536, LocalMax: most(4096)}, 8, []int{32, 64, 128, 256, 512, 1024, 2048, 4096}},
		{"distinct in a narrow range", job.BatchLimits{LocalMin: 4, Max: 512, LocalMax: most(8)}, 10, []int{4, 5, 6, 7, 8}},
		{"without a memory limit up to the whole batch", job.BatchLimits{Max: 100, LocalMax: map[cluster.GPUType]int{"t4": 8}}, 3, []int{1, 10, 100}},
		{"not above the whole batch", job.BatchLimits{LocalMin: 4, Max: 16, LocalMax: most(64)}, 3, []int{4, 8, 16}},
		{"one rung", job.BatchLimits{LocalMin: 4, Max: 16}, 1, []int{4}},
		{"one size", job.BatchLimits{LocalMin: 4, Max: 4}, 10, []int{4}},
		{"no rungs", job.BatchLimits{LocalMin: 4, Max: 16}, 0, nil},
		{"nothing fits", job.BatchLimits{LocalMin: 4, Max: 16, LocalMax: most(2)}, 10, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, perf.Ladder(&c.limits, "a100", c.rungs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLadder_ascends_between_its_ends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(1, 1000).Draw(t, "least")
		high := low + rapid.IntRange(0, 100000).Draw(t, "span")
		rungs := rapid.IntRange(2, 30).Draw(t, "rungs")
		ladder := perf.Ladder(&job.BatchLimits{LocalMin: low, Max: high}, "t4", rungs)
		if ladder[0] != low || ladder[len(ladder)-1] != high || len(ladder) > rungs {
			t.Fatalf("%v, want at most %d rungs from %d to %d", ladder, rungs, low, high)
		}
		for i := range ladder[1:] {
			if ladder[i] >= ladder[i+1] {
				t.Fatalf("%v does not ascend", ladder)
			}
		}
	})
}

func TestCost(t *testing.T) {
	if got := perf.ProfileCost(time.Second, 2*time.Second); got != perf.StepsPerRung*3*time.Second {
		t.Errorf("got %v", got)
	}
	if got := perf.ProfileCost(); got != 0 {
		t.Errorf("no rungs cost %v", got)
	}
}

// Sia §3.3.2: "the average per-job profiling cost is < 20 GPU seconds per GPU
// type".
func TestCost_is_less_than_20_seconds_a_type_on_average(t *testing.T) {
	total, ladders := time.Duration(0), 0
	for _, model := range []string{"bert", "cifar10", "deepspeech2", "imagenet", "yolov3"} {
		for gpu, measured := range readSteps(t, model) {
			first, last := measured[0].local, measured[len(measured)-1].local
			limits := job.BatchLimits{LocalMin: first, Max: last}
			for _, local := range perf.Ladder(&limits, gpu, perf.ProfileRungs) {
				total += perf.ProfileCost(at(measured, local))
			}
			ladders++
		}
	}
	average := total / time.Duration(ladders)
	if average >= 20*time.Second || average < 10*time.Second {
		t.Errorf("a ladder takes %v on average over %d, want less than 20s", average, ladders)
	}
	t.Logf("a ladder takes %v on average over %d", average, ladders)
}

// A measurement is the time of one step on one GPU.
type measurement struct {
	local int
	step  float64 // seconds
}

// at interpolates between measurements.
func at(m []measurement, local int) time.Duration {
	i := 1
	for i < len(m)-1 && m[i].local < local {
		i++
	}
	share := float64(local-m[i-1].local) / float64(m[i].local-m[i-1].local)
	return time.Duration((m[i-1].step + share*(m[i].step-m[i-1].step)) * float64(time.Second))
}

// readSteps returns a model's measurements on one GPU of each type of Sia's
// heterogeneous cluster, by ascending batch size.
func readSteps(t *testing.T, model string) map[cluster.GPUType][]measurement {
	file, err := os.Open(testdata.Path(t, "sia/profiles-1gpu/seed/"+model+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	steps := make(map[cluster.GPUType][]measurement)
	for line, r := range records[1:] {
		local, err1 := strconv.Atoi(r[1])
		step, err2 := strconv.ParseFloat(r[3], 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("%s: line %d: %q", file.Name(), line+2, r)
		}
		if gpu := cluster.GPUType(r[0]); slices.Contains([]cluster.GPUType{"t4", "rtx", "dgx"}, gpu) {
			steps[gpu] = append(steps[gpu], measurement{local, step})
		}
	}
	for _, s := range steps {
		slices.SortFunc(s, func(a, b measurement) int { return a.local - b.local })
	}
	return steps
}
