package trace

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// readFile returns the arrivals of a file whose format is unnamed.
func readFile(t *testing.T, path string) ([]workload.Arrival, *parse.Summary) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := new(parse.Summary)
	seq, err := Open(f, "", parse.Options{File: filepath.Base(path), Summary: s})
	if err != nil {
		t.Fatal(err)
	}
	all, err := parse.Collect(seq)
	if err != nil {
		t.Fatal(err)
	}
	obey(t, all, s)
	return all, s
}

// Every shared trace reads without a complaint, as the READMEs there count it.
func TestSharedTraces(t *testing.T) {
	tests := []struct {
		glob, format string
		files        int
		jobs         int // in all files together
	}{
		{"sia/traces/philly/*.csv", "sia", 6, 6 * 160},
		{"sia/traces/helios/*.csv", "sia", 7, 7 * 160},
		{"sia/traces/newtrace/*.csv", "sia", 7, 7 * 960},
		{"sia/traces/helios-rate/rate_*/*.csv", "sia", 35, 7 * 8 * (10 + 20 + 30 + 40 + 50)},
		{"sia/traces/helios-scale/scale_*/*.csv", "sia", 35, 7 * 160 * (2 + 4 + 8 + 16 + 32)},
		{"sia/traces/physical/*.csv", "sia", 1, 30},
		{"sia/traces/pollux-workloads*/*.csv", "sia", 12, 12 * 160},
		{"traces/philly/*.csv.gz", "philly", 9, 60560},
		{"traces/lyra_synth/train_full_seed?.csv.gz", "philly", 5, 0},
		{"traces/lyra_synth/train_testbed_seed*.csv", "philly", 5, 5 * 180},
		{"traces/alibaba_gpu2023/pods*.gz", "alibaba", 1, 4365},
		{"gavel/traces/physical_cluster/*.csv", "gavel", 6, 100 + 96 + 15 + 20 + 14 + 8},
		{"gavel/traces/msr/seed?/*.csv", "gavel", 52, 0},
		{"shockwave/traces/*.csv", "shockwave", 4, 120 + 220 + 460 + 900},
		{"synergy/traces/deploy_*.csv", "synergy", 2, 2 * 100},
		{"synergy/traces/derived_*.csv", "synergy", 8, 5*7500 + 3*8000},
	}
	root := filepath.Dir(testdata.Path(t, "sia"))
	for _, tc := range tests {
		t.Run(tc.glob, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(root, tc.glob))
			if err != nil || len(files) != tc.files {
				t.Fatalf("%d files, %v, want %d", len(files), err, tc.files)
			}
			jobs := 0
			for _, path := range files {
				all, s := readFile(t, path)
				if s.Format != tc.format || s.Bad > 0 {
					t.Errorf("%s: summary %+v, want format %s", path, s, tc.format)
				}
				jobs += len(all)
			}
			if tc.jobs > 0 && jobs != tc.jobs {
				t.Errorf("%d jobs, want %d", jobs, tc.jobs)
			}
		})
	}
}

// The Sia traces say what the README there says: adaptive jobs, 2 to 16 GPUs.
func TestSharedSia(t *testing.T) {
	all, _ := readFile(t, testdata.Path(t, "sia/traces/newtrace/workload-1.csv"))
	d, err := Describe(seqOf(all...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Jobs != 960 || d.Last > 48*time.Hour || d.Known != 0 || len(d.Applications) != 5 {
		t.Errorf("description %+v, want 960 jobs of 5 applications in 48 h", d)
	}
	if first, last := d.Sizes[0].GPUs, d.Sizes[len(d.Sizes)-1].GPUs; first != 4 || last != 16 {
		t.Errorf("sizes from %d to %d GPUs, want 4 to 16", first, last)
	}
	if want := 487661836 * time.Microsecond; all[0].At != want || all[0].Spec.Adaptivity != job.Adaptive {
		t.Errorf("first arrival %+v, want an adaptive one at %v", all[0], want)
	}
}

// The synthetic Lyra traces offer the load their README states: 0.69 to 0.75
// of 3,544 GPUs for 15 days.
func TestSharedLyraLoad(t *testing.T) {
	all, _ := readFile(t, testdata.Path(t, "traces/lyra_synth/train_full_seed1.csv.gz"))
	work, jobs := 0.0, 0
	for _, a := range all {
		if a.Spec.Queue != "warm" {
			work += float64(a.Spec.GPUs) * a.Duration.Hours()
			jobs++
		}
	}
	if load := work / (3544 * 15 * 24); jobs != 50390 || math.Abs(load-0.72) > 0.03 {
		t.Errorf("%d jobs of load %.3f, want 50390 of 0.69 to 0.75", jobs, load)
	}
}
