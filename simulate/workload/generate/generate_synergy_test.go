package generate

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// A derivedJob is a row of a shared derived trace.
type derivedJob struct {
	model    string
	at       float64 // seconds
	duration float64 // seconds, with 3 CPUs and 62.5 GB
	gpus     float64
}

// readDerived reads a shared trace; package trace, which does so for good, stands
// above this one.
func readDerived(t *testing.T, path string) []derivedJob {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []derivedJob
	for _, r := range rows[1:] {
		rate := profiles.ProfiledRates()[r[1]]
		all = append(all, derivedJob{model: r[1], at: parse(t, r[2]), duration: parse(t, r[3]) / rate, gpus: parse(t, r[4])})
	}
	return all
}

// likeDerived returns generated jobs in the same form.
func likeDerived(all []workload.Arrival) []derivedJob {
	var jobs []derivedJob
	for _, a := range all {
		gpus := float64(a.Spec.GPUs)
		jobs = append(jobs, derivedJob{model: a.Application, at: a.At.Seconds(), duration: a.Spec.Target / gpus / profiles.ProfiledRates()[a.Application], gpus: gpus})
	}
	return jobs
}

var derivedName = regexp.MustCompile(`derived_(single|multi)_split([0-9-]+)_load([0-9.]+)_`)

// What is generated is like the traces of the public generator: the same models
// in the same order, and durations, GPU demands and gaps of the same
// distributions.
func TestDerivedLikeShared(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "synergy/traces"), "derived_*.csv"))
	if err != nil || len(files) != 8 {
		t.Fatalf("%d traces, %v, want 8", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			parts := derivedName.FindStringSubmatch(path)
			shared := readDerived(t, path)
			o := DefaultOptions("synergy")
			o.Jobs, o.MultiGPU, o.Split, o.Load = len(shared), parts[1] == "multi", parts[2], parse(t, parts[3])
			ours := likeDerived(generate(t, o))
			for i := range shared {
				if shared[i].model != ours[i].model {
					t.Fatalf("job %d is %s, want %s", i, ours[i].model, shared[i].model)
				}
			}
			compareQuantiles(t, shared, ours)
			compareSizes(t, shared, ours)
			if a, b := shared[len(shared)-1].at, ours[len(ours)-1].at; math.Abs(a/b-1) > 0.05 {
				t.Errorf("the last job comes after %.0f h, want about %.0f h", b/3600, a/3600)
			}
		})
	}
}

// compareQuantiles fails the test unless logarithms of durations are alike: to
// about four standard errors where few jobs are.
func compareQuantiles(t *testing.T, shared, ours []derivedJob) {
	t.Helper()
	logs := func(jobs []derivedJob) []float64 {
		var x []float64
		for _, j := range jobs {
			x = append(x, math.Log10(j.duration/60))
		}
		slices.Sort(x)
		return x
	}
	a, b := logs(shared), logs(ours)
	for _, q := range []float64{0, 0.05, 0.25, 0.5, 0.75, 0.85, 0.95, 0.99, 1} {
		i := int(q * float64(len(a)-1))
		if math.Abs(a[i]-b[i]) > 0.05 {
			t.Errorf("quantile %g of durations is 10^%.3f minutes, want 10^%.3f", q, b[i], a[i])
		}
	}
	for _, ends := range [][2]float64{{a[0], 1.5}, {b[0], 1.5}, {a[len(a)-1], 4}, {b[len(b)-1], 4}} {
		if math.Abs(ends[0]-ends[1]) > 0.01 {
			t.Errorf("durations end at 10^%.3f minutes, want 10^%g", ends[0], ends[1])
		}
	}
}

// compareSizes fails the test unless shares of GPU demands are alike.
func compareSizes(t *testing.T, shared, ours []derivedJob) {
	t.Helper()
	share := func(jobs []derivedJob, gpus float64) float64 {
		n := 0.0
		for _, j := range jobs {
			if j.gpus == gpus {
				n++
			}
		}
		return n / float64(len(jobs))
	}
	for _, gpus := range []float64{1, 2, 4, 8, 16} {
		if a, b := share(shared, gpus), share(ours, gpus); math.Abs(a-b) > 0.02 {
			t.Errorf("share of jobs with %g GPUs %.3f, want %.3f", gpus, b, a)
		}
	}
}

// Synergy §5.1: jobs last 10^x minutes, x from [1.5, 3] with 80 % probability and
// from [3, 4] with 20 %, and come at a Poisson rate.
func TestDerivedDistributions(t *testing.T) {
	o := DefaultOptions("synergy")
	o.Jobs, o.MultiGPU = 40_000, true
	jobs := likeDerived(generate(t, o))
	long, tasks, sizes, short := 0.0, map[string]float64{}, map[float64]float64{}, 0.0
	before := 0.0
	for _, j := range jobs {
		if j.duration > 60*1000 {
			long++
		}
		if j.at-before < 400 {
			short++
		}
		before = j.at
		tasks[taskOf(j.model)]++
		sizes[j.gpus]++
	}
	n := float64(len(jobs))
	for _, tc := range []struct {
		what           string
		got, want, off float64
	}{
		{"jobs of more than 1000 minutes", long / n, 0.2, 0.01},
		{"jobs an hour", n / (jobs[len(jobs)-1].at / 3600), 9, 0.2},
		{"gaps below their mean of 400 s", short / n, 1 - 1/math.E, 0.01},
		{"image", tasks["image"] / n, 0.2, 1e-4},
		{"language", tasks["language"] / n, 0.7, 1e-4},
		{"speech", tasks["speech"] / n, 0.1, 1e-4},
		{"1 GPU", sizes[1] / n, 0.835, 0.01},
		{"2 GPUs", sizes[2] / n, 0.014, 0.003},
		{"4 GPUs", sizes[4] / n, 0.065, 0.005},
		{"8 GPUs", sizes[8] / n, 0.086, 0.006},
	} {
		if math.Abs(tc.got-tc.want) > tc.off {
			t.Errorf("%s: %g, want %g", tc.what, tc.got, tc.want)
		}
	}
	if sizes[16] == 0 || sizes[16] > 15 {
		t.Errorf("%g jobs of 16 GPUs among %g, want about %g", sizes[16], n, n/10_000)
	}
}

func taskOf(model string) string {
	for _, k := range tasks {
		if slices.Contains(k.models, model) {
			return k.name
		}
	}
	return ""
}

// A static trace has the jobs of Synergy's deployment: 100 at the start, of one
// GPU, 60 image, 30 language and 10 speech. Source: Synergy §5.2.1, Table 5.
func TestStatic(t *testing.T) {
	all := generate(t, DefaultOptions("synergy-static"))
	tasks := map[string]int{}
	for _, a := range all {
		if a.At != 0 || a.Spec.GPUs != 1 || !strings.HasPrefix(string(a.Spec.ID), a.Application+"-") {
			t.Errorf("%+v, want a job of one GPU at the start", a)
		}
		tasks[taskOf(a.Application)]++
	}
	if tasks["image"] != 60 || tasks["language"] != 30 || tasks["speech"] != 10 {
		t.Errorf("tasks %v, want 60, 30 and 10", tasks)
	}
}

// Jobs stay the same jobs when they come at another rate, or on more GPUs.
func TestDerivedSweep(t *testing.T) {
	o := DefaultOptions("synergy")
	o.Jobs = 200
	base := generate(t, o)
	o.Load, o.MultiGPU = 4.5, true
	for i, a := range generate(t, o) {
		if a.Spec.ID != base[i].Spec.ID || a.Spec.Target/float64(a.Spec.GPUs) != base[i].Spec.Target {
			t.Fatalf("job %d: %+v, want that of twice the rate", i, a.Spec)
		}
		if off := a.At - 2*base[i].At; off < -2*time.Second || off > 2*time.Second {
			t.Fatalf("job %d at %v, want at twice %v", i, a.At, base[i].At)
		}
	}
}
