package generate

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A lyraJob is what is compared of a job of Lyra's traces.
type lyraJob struct {
	at, seconds                   float64
	gpus, worker                  int
	elastic, fungible, mixed, ran bool
}

func (j *lyraJob) work() float64 { return j.seconds * float64(j.gpus) }

// likeLyra returns generated jobs in that form.
func likeLyra(all []workload.Arrival) []lyraJob {
	jobs := make([]lyraJob, len(all))
	for i, a := range all {
		jobs[i] = lyraJob{
			at: a.At.Seconds(), seconds: a.Duration.Seconds(), gpus: a.Spec.GPUs, worker: a.Spec.WorkerGPUs,
			elastic: a.Spec.Resizes, fungible: !a.Bound, mixed: a.Heterogeneous, ran: a.Spec.Queue == workload.Warm,
		}
	}
	return jobs
}

// readLyra reads a shared trace; package trace, which does so for good, stands above.
func readLyra(t *testing.T, path string) []lyraJob {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var jobs []lyraJob
	for _, x := range rows[1:] {
		jobs = append(jobs, lyraJob{
			at: parse(t, x[1]), seconds: parse(t, x[2]), gpus: int(parse(t, x[3])), worker: int(parse(t, x[4])),
			elastic: x[7] == "1", fungible: x[8] == "1", mixed: x[9] == "1", ran: x[11] == "1",
		})
	}
	return jobs
}

// A lyraView is a trace in numbers, of the jobs that come.
type lyraView struct {
	jobs, ran                               int
	mean, seconds                           float64 // of running times; of elastic jobs
	elastic, elasticWork, fungible, funWork float64 // shares of jobs and of GPU time
	mixed, load                             float64 // load: GPU-seconds over 15 days
	logs                                    []float64
	gpus                                    map[int]float64 // shares of jobs that are not elastic
	hours                                   [24]float64     // shares of jobs, of working days
}

func viewOf(jobs []lyraJob) *lyraView {
	v := &lyraView{gpus: map[int]float64{}}
	rigid := 0.0
	for i := range jobs {
		j := &jobs[i]
		if j.ran {
			v.ran++
			continue
		}
		v.jobs++
		v.mean += j.seconds
		v.load += j.work()
		v.logs = append(v.logs, math.Log(j.seconds))
		if j.elastic {
			v.elastic, v.elasticWork, v.seconds = v.elastic+1, v.elasticWork+j.work(), v.seconds+j.seconds
		} else {
			v.gpus[j.gpus]++
			rigid++
		}
		if j.fungible {
			v.fungible, v.funWork = v.fungible+1, v.funWork+j.work()
		}
		if j.mixed {
			v.mixed++
		}
		if h := int(j.at / 3600); h/24%7 < 5 {
			v.hours[h%24]++
		}
	}
	n := float64(v.jobs)
	v.seconds /= v.elastic
	for _, x := range []*float64{&v.mean, &v.elastic, &v.fungible, &v.mixed} {
		*x /= n
	}
	v.elasticWork, v.funWork = v.elasticWork/v.load, v.funWork/v.load
	for g := range v.gpus {
		v.gpus[g] /= rigid
	}
	slices.Sort(v.logs)
	return v
}

func runAlready(all []workload.Arrival) []workload.Arrival {
	return slices.DeleteFunc(slices.Clone(all), func(a workload.Arrival) bool { return a.Spec.Queue != workload.Warm })
}

// lyraGPUs are those of the full cluster, and the seconds of its trace.
const lyraGPUs, lyraSeconds = 3544, 15 * 24 * 3600

// inBand fails the test if a number is not from low to high.
func inBand(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if !(got >= low && got <= high) {
		t.Errorf("%s: %g, want %g to %g", what, got, low, high)
	}
}

// "50,390 training jobs", "21% of total training load" fungible, "~5% of all jobs" elastic that
// "account for 36%" and last "14.2 hours" in the mean (Lyra §2.2, §7.1); running times are those of its
// baseline less queuing, a load of 0.72 (Table 5). The bands are those of the shared traces.
func TestPaper_lyra_jobs(t *testing.T) {
	loads := 0.0
	for seed := range uint64(5) {
		o := DefaultOptions("lyra")
		o.Seed = seed + 1
		v := viewOf(likeLyra(generate(t, o)))
		inBand(t, "jobs", float64(v.jobs), 50_390, 50_390)
		inBand(t, "mean running time, s", v.mean, 13_400, 14_300)
		inBand(t, "median running time, s", math.Exp(v.logs[v.jobs/2]), 700, 780)
		inBand(t, "elastic jobs", v.elastic, 0.05, 0.0501)
		inBand(t, "elastic GPU time", v.elasticWork, 0.35, 0.40)
		inBand(t, "elastic, h", v.seconds/3600, 13.7, 14.8)
		inBand(t, "fungible jobs", v.fungible, 0.209, 0.211)
		inBand(t, "fungible GPU time", v.funWork, 0.195, 0.225)
		inBand(t, "heterogeneous jobs", v.mixed, 0.0999, 0.1001)
		load := v.load / (lyraGPUs * lyraSeconds)
		inBand(t, "offered load", load, 0.70, 0.75)
		inBand(t, "jobs that run already", float64(v.ran), 515, 560)
		loads += load / 5
	}
	inBand(t, "mean offered load", loads, 0.72, 0.74)
}

// Elastic jobs run on one to two times their base demand, and come and go by workers.
func TestLyra_elastic_jobs(t *testing.T) {
	for _, a := range generate(t, DefaultOptions("lyra-eighth")) {
		s := &a.Spec
		switch {
		case s.Resizes && (s.WorkerGPUs != 2 || s.MinGPUs != s.GPUs || s.MaxGPUs != 2*s.GPUs || s.Adaptivity != job.StrongScaling || a.Duration < 27_300*time.Second):
			t.Errorf("%+v, %v: want 2 GPUs a worker, to twice the base demand, for 7.6 h or more", s, a.Duration)
		case !s.Resizes && (s.WorkerGPUs < 1 || s.GPUs%s.WorkerGPUs != 0 || s.Adaptivity != job.Rigid || s.MaxGPUs != 0):
			t.Errorf("%+v: want a rigid job of whole workers", s)
		case !s.NoCheckpoint:
			t.Errorf("%+v: want no checkpoints", s)
		}
		if s.Queue == workload.Warm && (a.At != 0 || !a.Bound || s.Resizes || a.Heterogeneous) {
			t.Errorf("%+v, at %v: want one that runs already, and stays where it is", s, a.At)
		}
	}
}

// "180 training jobs (10 elastic ones", none of more than 16 GPUs; "training time varies from
// 2 minutes to 2 hours": Lyra §7.5.
func TestPaper_lyra_testbed(t *testing.T) {
	all := generate(t, DefaultOptions("lyra-testbed"))
	elastic := 0
	for _, a := range all {
		most := max(a.Spec.GPUs, a.Spec.MaxGPUs)
		if a.Spec.Resizes {
			elastic++
		}
		if most > 16 || a.Duration < 2*time.Minute || a.Duration > 2*time.Hour || a.At >= 8*time.Hour || a.Spec.Queue == workload.Warm {
			t.Errorf("%+v, %v at %v: want at most 16 GPUs, 2 min to 2 h, in 8 h", a.Spec, a.Duration, a.At)
		}
	}
	if len(all) != 180 || elastic != 10 {
		t.Errorf("%d jobs, %d elastic, want 180 and 10", len(all), elastic)
	}
}

// Jobs stay what they are when they come over another span.
func TestLyra_span(t *testing.T) {
	o := DefaultOptions("lyra-eighth")
	base := generate(t, o)
	o.Span *= 2
	longer := generate(t, o)
	before, after := len(runAlready(base)), len(runAlready(longer))
	if math.Abs(float64(before)/2-float64(after)) > 1 {
		t.Errorf("%d jobs run already, and %d over twice the span, want half", before, after)
	}
	for i, a := range longer[after:] {
		if b := base[before+i]; a.Spec.GPUs != b.Spec.GPUs || a.Duration != b.Duration || a.Bound != b.Bound {
			t.Fatalf("job %d is %+v over twice the span, want %+v", i, a, b)
		}
	}
}

// However short the span is, no more jobs run already than come.
func TestLyra_span_shorter_than_its_jobs(t *testing.T) {
	o := DefaultOptions("lyra-eighth")
	o.Span = time.Nanosecond
	if all := generate(t, o); len(runAlready(all)) != o.Jobs || len(all) != 2*o.Jobs {
		t.Errorf("%d jobs, of which %d run already, want %d that do and as many that come", len(all), len(runAlready(all)), o.Jobs)
	}
}

// What is generated is like the shared traces.
func TestLyra_like_shared(t *testing.T) {
	for _, kind := range []struct {
		name, file string
		log, share float64 // how far quantiles of the logarithm, and shares, may be off
	}{
		{"lyra", "train_full_seed1.csv.gz", 0.06, 0.008},
		{"lyra-eighth", "train_eighth_seed11.csv.gz", 0.15, 0.02},
		{"lyra-testbed", "train_testbed_seed21.csv", 0.55, 0.11},
	} {
		t.Run(kind.name, func(t *testing.T) {
			shared := viewOf(readLyra(t, filepath.Join(testdata.Path(t, "traces/lyra_synth"), kind.file)))
			ours := viewOf(likeLyra(generate(t, DefaultOptions(kind.name))))
			if shared.jobs != ours.jobs {
				t.Errorf("%d jobs, want %d", ours.jobs, shared.jobs)
			}
			for _, q := range []float64{0.05, 0.25, 0.5, 0.7, 0.8, 0.9, 0.97, 0.995} {
				i := int(q * float64(shared.jobs))
				inBand(t, fmt.Sprintf("quantile %g of logarithms", q), ours.logs[i], shared.logs[i]-kind.log, shared.logs[i]+kind.log)
			}
			for g := range shared.gpus {
				inBand(t, fmt.Sprintf("share of %d GPUs", g), ours.gpus[g], shared.gpus[g]-kind.share, shared.gpus[g]+kind.share)
			}
			inBand(t, "elastic", ours.elastic, shared.elastic, shared.elastic)
			inBand(t, "fungible", ours.fungible, shared.fungible-0.005, shared.fungible+0.005)
			inBand(t, "heterogeneous", ours.mixed, shared.mixed-0.005, shared.mixed+0.005)
			inBand(t, "jobs that run already", float64(ours.ran), 0.85*float64(shared.ran), 1.15*float64(shared.ran))
		})
	}
}

// Over many seeds jobs come by the same profile of the day as in the shared traces.
func TestLyra_hours(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "traces/lyra_synth"), "train_full_*.csv.gz"))
	if err != nil || len(files) != 5 {
		t.Fatalf("%d files, %v, want 5", len(files), err)
	}
	var shared, ours [24]float64
	for _, path := range files {
		for h, n := range viewOf(readLyra(t, path)).hours {
			shared[h] += n
		}
	}
	for seed := range uint64(20) {
		o := DefaultOptions("lyra-eighth")
		o.Seed = seed
		for h, n := range viewOf(likeLyra(generate(t, o))).hours {
			ours[h] += n
		}
	}
	scale := sumOf(shared[:]) / sumOf(ours[:])
	for h := range shared {
		inBand(t, fmt.Sprintf("jobs in hour %d", h), ours[h]*scale, 0.8*shared[h], 1.25*shared[h])
	}
}

func sumOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}
