package generate

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/internal/tree"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

func generate(t testing.TB, o Options) []workload.Arrival {
	t.Helper()
	all, err := Arrivals(o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// traits sum up what distinguishes workloads.
type traits struct {
	jobs         int
	meanGPUs     float64
	applications map[string]float64 // share of jobs
	hours        []float64          // jobs in each hour
	shortGaps    float64            // share of gaps below 10 s
}

// traitsOf returns the traits of a workload whose span is so many hours.
func traitsOf(all []workload.Arrival, hours int) traits {
	s := traits{jobs: len(all), applications: map[string]float64{}, hours: make([]float64, hours)}
	for i, a := range all {
		s.meanGPUs += float64(a.Spec.GPUs) / float64(len(all))
		s.applications[a.Application] += 1 / float64(len(all))
		s.hours[int(a.At/time.Hour)]++
		if i > 0 && a.At-all[i-1].At < 10*time.Second {
			s.shortGaps += 1 / float64(len(all)-1)
		}
	}
	return s
}

// mean returns the mean traits of several workloads.
func mean(list []traits) traits {
	m := traits{applications: map[string]float64{}, hours: make([]float64, len(list[0].hours))}
	n := float64(len(list))
	for _, s := range list {
		m.jobs += s.jobs
		m.meanGPUs += s.meanGPUs / n
		m.shortGaps += s.shortGaps / n
		for name, share := range s.applications {
			m.applications[name] += share / n
		}
		for i, h := range s.hours {
			m.hours[i] += h / n
		}
	}
	return m
}

// readSia reads one shared Sia trace; package trace, which does so for good,
// stands above this one.
func readSia(t *testing.T, path string) []workload.Arrival {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []workload.Arrival
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), ",")
		seconds, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			continue // the header
		}
		gpus, err := strconv.Atoi(fields[3])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, workload.Arrival{At: time.Duration(seconds * float64(time.Second)), Application: fields[2], Spec: job.Spec{GPUs: gpus}})
	}
	return all
}

// What is generated is like the shared traces it is modelled on.
func TestGenerateLikeShared(t *testing.T) {
	for kind, folder := range map[string]string{"philly-like": "philly", "helios-like": "helios", "newtrace-like": "newtrace"} {
		t.Run(kind, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(testdata.Path(t, "sia/traces/"+folder), "*.csv"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no traces: %v", err)
			}
			o := DefaultOptions(kind)
			hours := int(o.Span.Hours())
			var shared, ours []traits
			for _, path := range files {
				shared = append(shared, traitsOf(readSia(t, path), hours))
			}
			for seed := range uint64(60) {
				o.Seed = seed
				ours = append(ours, traitsOf(generate(t, o), hours))
			}
			compareTraits(t, mean(shared), mean(ours), len(shared), len(ours))
		})
	}
}

// compareTraits fails the test unless ours are like those of the shared traces.
func compareTraits(t *testing.T, shared, ours traits, nShared, nOurs int) {
	t.Helper()
	if a, b := shared.jobs/nShared, ours.jobs/nOurs; a != b {
		t.Errorf("%d jobs, want %d", b, a)
	}
	if math.Abs(shared.meanGPUs-ours.meanGPUs) > 0.15 {
		t.Errorf("mean GPUs %.2f, want %.2f", ours.meanGPUs, shared.meanGPUs)
	}
	for name, share := range shared.applications {
		if math.Abs(share-ours.applications[name]) > 0.012 {
			t.Errorf("share of %s %.3f, want %.3f", name, ours.applications[name], share)
		}
	}
	for i, h := range shared.hours {
		if math.Abs(h-ours.hours[i]) > 3 {
			t.Errorf("%.1f jobs in hour %d, want %.1f", ours.hours[i], i, h)
		}
	}
	if math.Abs(shared.shortGaps-ours.shortGaps) > 0.02 {
		t.Errorf("share of gaps below 10 s %.3f, want %.3f", ours.shortGaps, shared.shortGaps)
	}
}

func TestGenerateInvariants(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			o := DefaultOptions(k.Name)
			o.Jobs = min(o.Jobs, 2000)
			all := generate(t, o)
			seen := map[job.ID]bool{}
			for i, a := range all {
				if i > 0 && a.At < all[i-1].At {
					t.Fatalf("arrival %d at %v, after one at %v", i, a.At, all[i-1].At)
				}
				if o.Span > 0 && a.At >= o.Span || a.At < 0 {
					t.Fatalf("arrival at %v, want in [0, %v)", a.At, o.Span)
				}
				if a.Spec.ID == "" || seen[a.Spec.ID] || a.Spec.GPUs < 1 || (a.Application == "") == (a.Duration == 0) {
					t.Fatalf("arrival %+v is not usable", a)
				}
				seen[a.Spec.ID] = true
			}
			if n := len(all) - len(runAlready(all)); n != o.Jobs {
				t.Errorf("%d jobs, want %d", n, o.Jobs)
			}
			if diff := cmp.Diff(all, generate(t, o)); diff != "" {
				t.Errorf("second workload of the same seed (-first +second):\n%s", diff)
			}
			o.Seed++
			if cmp.Equal(all, generate(t, o)) {
				t.Error("two seeds give the same workload")
			}
		})
	}
}

// Every application generated is in the embedded catalog.
func TestGenerateKnownApplications(t *testing.T) {
	c := profiles.Default()
	for _, k := range Kinds() {
		o := DefaultOptions(k.Name)
		o.Jobs = min(o.Jobs, 1000)
		for _, a := range generate(t, o) {
			if err := c.Complete(&a); err != nil {
				t.Fatalf("%s: %v", k.Name, err)
			}
		}
	}
}

// newTrace sees 5 to 100 jobs/h (Sia §3.4.1): over windows of 10 minutes the
// rate passes 100 jobs/h at its peaks and falls to 5 or less between them.
func TestNewTraceRates(t *testing.T) {
	windows := make([]float64, 48*6)
	for _, a := range generate(t, DefaultOptions("newtrace-like")) {
		windows[a.At/(10*time.Minute)] += 6
	}
	slices.Sort(windows)
	if low, high := windows[len(windows)/20], windows[len(windows)-1]; low > 6 || high < 72 || high > 150 {
		t.Errorf("rate from %.0f to %.0f jobs/h, want about 5 to 100", low, high)
	}
}

// Spike-240: 240 jobs in 6 hours, 40/h on average, with a burst in the 30
// minutes from hour 2.5 that contains job 165 (Sia §3.5.6).
func TestSpike(t *testing.T) {
	all := generate(t, DefaultOptions("spike"))
	burst := 0
	for _, a := range all {
		if a.At >= 150*time.Minute && a.At < 180*time.Minute {
			burst++
		}
	}
	if len(all) != 240 || burst < 105 || burst > 155 {
		t.Errorf("%d jobs, %d of them in the burst, want 240 and about 130", len(all), burst)
	}
	if at := all[165].At; at < 150*time.Minute || at >= 185*time.Minute {
		t.Errorf("job 165 at %v, want in the burst", at)
	}
}

func TestFixedDurationLoad(t *testing.T) {
	o := DefaultOptions("fixed-duration")
	all := generate(t, o)
	work := 0.0
	for _, a := range all {
		work += float64(a.Spec.GPUs) * a.Duration.Hours()
	}
	span := all[len(all)-1].At.Hours()
	if load := work / (float64(o.GPUs) * span); math.Abs(load-o.Load) > 0.005 {
		t.Errorf("load %.4f, want %.2f", load, o.Load)
	}
	if days := span / 24; days < 11 || days > 13.5 {
		t.Errorf("span %.1f days, want about 12", days)
	}
	o.GPUs = 4
	o.Jobs = 100
	for _, a := range generate(t, o) {
		if a.Spec.GPUs > 4 {
			t.Fatalf("a job of %d GPUs for a cluster of 4", a.Spec.GPUs)
		}
	}
}

// A longer span repeats the pace, a shorter one cuts it.
func TestGenerateSpan(t *testing.T) {
	o := DefaultOptions("philly-like")
	o.Span, o.Jobs = 16*time.Hour, 20_000
	hours := traitsOf(generate(t, o), 16).hours
	for i := range 8 {
		if math.Abs(hours[i]-hours[i+8]) > 0.2*hours[i] {
			t.Errorf("%v jobs in hour %d and %v 8 hours later, want about as many", hours[i], i, hours[i+8])
		}
	}
	o.Span, o.Jobs = 90*time.Minute, 1000
	if s := traitsOf(generate(t, o), 2); math.Abs(s.hours[0]/s.hours[1]-2*18.3/17.8) > 0.4 {
		t.Errorf("%v jobs in the first hour and the half after it, want about 2 to 1", s.hours)
	}
}

func TestGenerateErrors(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		want string
	}{
		{"unknown kind", Options{Kind: "philly"}, `workload kind "philly", want one of philly-like, helios-like, newtrace-like, spike, drifting, fixed-duration, synergy, synergy-static, lyra, lyra-eighth, lyra-testbed`},
		{"several", Options{Kind: "spike", Jobs: -1, Span: -1, GPUs: 3}, "jobs -1, want at most 100000000, or 0 for the default of 240\nspan -1ns, want at most 87600h0m0s, or 0 for the default\ngpus 3 and load 0, want neither for kind spike: its jobs decide"},
		{"no load", Options{Kind: "fixed-duration", Load: math.NaN(), Span: 1}, "gpus 0, want at least 1 for kind fixed-duration\nload NaN, want more than 0 for kind fixed-duration\nspan 1ns, want 0 for kind fixed-duration: it follows from the load"},
		{"synergy", Options{Kind: "synergy", GPUs: 8, Span: 1, Split: "1-1-1"}, "gpus 8, want 0 for kind synergy: its load is jobs per hour\nload 0, want more than 0 for kind synergy\nspan 1ns, want 0 for kind synergy: it follows from the load"},
		{"static", Options{Kind: "synergy-static", Load: 9, Split: "1-1-1"}, "load 9, want 0 for kind synergy-static: all jobs come at the start"},
		{"split of another", Options{Kind: "spike", Split: "1-1-1"}, `split "1-1-1" and multi-GPU false, want neither for kind spike: its jobs decide`},
		{"GPUs of another", Options{Kind: "spike", MultiGPU: true}, `split "" and multi-GPU true, want neither for kind spike: its jobs decide`},
	}
	const wantSplit = "want parts of image-language-speech as 20-70-10: whole numbers to 1000, not all 0"
	for _, s := range []string{"", "20-70", "20-70-10-0", "0-0-0", "a-70-10", "-1-2-3", "1001-0-0", "20.5-70-10", "99999999999999999999-0-0"} {
		tests = append(tests, struct {
			name string
			o    Options
			want string
		}{"split " + s, Options{Kind: "synergy", Load: 9, Split: s}, fmt.Sprintf("split %q, %s", s, wantSplit)})
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.o.Validate(); err == nil || err.Error() != tc.want {
				t.Errorf("got error\n%v\nwant\n%s", err, tc.want)
			}
			if _, err := Arrivals(tc.o); err == nil {
				t.Error("Generate returned no error")
			}
		})
	}
	if _, err := Arrivals(Options{Kind: "synergy", Load: 1e-6, Split: "1-1-1"}); err == nil {
		t.Error("a rate of a job in 100 years: no error")
	}
	if _, err := Arrivals(Options{Kind: "fixed-duration", GPUs: 1, Load: 1e-6, Jobs: 1000}); err == nil {
		t.Error("a workload of more than 10 years: no error")
	}
}

func TestGenerateKindsDocumented(t *testing.T) {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	tree.Check(t, "traces#generators", names)
}

func BenchmarkGenerate(b *testing.B) {
	for _, k := range Kinds() {
		b.Run("kind="+k.Name, func(b *testing.B) {
			o := DefaultOptions(k.Name)
			for b.Loop() {
				if _, err := Arrivals(o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(o.Jobs*b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

func parse(t *testing.T, field string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(field, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
