package report

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

func TestMerged(t *testing.T) {
	held := []metrics.Interval{
		{Start: 0, End: 10, GPUs: 2, State: metrics.Restoring},
		{Start: 10, End: 30, GPUs: 2},
		{Start: 30, End: 40, GPUs: 4},
		{Start: 45, End: 55, GPUs: 4},
		{Start: 75, End: 95, GPUs: 1, Type: 1},
	}
	tests := []struct {
		name  string
		pause float64
		want  []bar
	}{
		{"as many GPUs that go on are one bar", 0, []bar{{0, 30, 30, 2}, {30, 40, 10, 4}, {45, 55, 10, 4}, {75, 95, 20, 1}}},
		{"a short pause is left out, a long one not", 6, []bar{{0, 55, 50, 2.8}, {75, 95, 20, 1}}},
		{"all are", 21, []bar{{0, 95, 70, 160.0 / 70}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, merged(held, test.pause), cmp.AllowUnexported(bar{})); diff != "" {
				t.Errorf("bars (-want +got):\n%s", diff)
			}
		})
	}
	if got := merged(nil, 1); got != nil {
		t.Errorf("bars %v of a job that held nothing", got)
	}
}

// Whatever is left out, bars of a job follow each other, lie within what it held,
// and hold the GPU time that the recorder counted; they are no more than asked for
// unless every job has one.
func TestBars_hold_what_the_recorder_counted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		run := synthetic(t, "sia", rapid.IntRange(1, 30).Draw(r, "jobs"), rapid.Uint64Range(1, 100).Draw(r, "seed"))
		most := rapid.OneOf(rapid.IntRange(1, 300), rapid.Just(math.MaxInt)).Draw(r, "most")
		count, least := 0, 0
		for i, bars := range barsOf(run.Result.Jobs, most) {
			job := &run.Result.Jobs[i]
			count, least = count+len(bars), least+min(1, len(job.Intervals))
			checkBars(r, job, bars)
		}
		if count > max(most, least) {
			r.Fatalf("%d bars, want at most %d", count, max(most, least))
		}
	})
}

func checkBars(t *rapid.T, job *metrics.JobResult, bars []bar) {
	gpuSeconds, last := 0.0, job.Submitted
	for _, b := range bars {
		if b.start < last || !(b.end > b.start) || !(b.held > 0) || b.held > (b.end-b.start)*(1+1e-9) {
			t.Fatalf("job %s: bar %+v after %v", job.ID, b, last)
		}
		gpuSeconds, last = gpuSeconds+b.held*b.gpus, b.end
	}
	if want := job.Allocated - job.Profiling; math.Abs(gpuSeconds-want) > 1e-6*(1+want) {
		t.Fatalf("job %s: bars hold %v GPU-seconds, the recorder counted %v", job.ID, gpuSeconds, want)
	}
	if n := len(bars); n > 0 && last != job.Intervals[len(job.Intervals)-1].End {
		t.Fatalf("job %s: bars end at %v", job.ID, last)
	}
}

// 500 jobs that take turns for 2000 rounds fit the page.
func TestHTML_of_jobs_that_take_turns(t *testing.T) {
	run := Run{Name: "gavel", Result: &metrics.Result{Types: []cluster.GPUType{"v100"}}}
	for i := range 500 {
		job := metrics.JobResult{Submitted: float64(i), ByType: []float64{0}}
		for k := range 100 {
			start := 120 * float64(i%20+20*k)
			job.Intervals = append(job.Intervals, metrics.Interval{Start: start, End: start + 120, GPUs: 1})
			job.Allocated += 120
		}
		run.Result.Jobs = append(run.Result.Jobs, job)
	}
	page := html(t, Input{Runs: []Run{run, run, run, run, run, run, run, run, run}})
	if len(page) > 10<<20 {
		t.Errorf("page takes %d bytes, want at most 10 MiB", len(page))
	}
	rows := map[float64]bool{}
	for _, d := range pageDataOf(t, page).Datasets {
		if d.Name != "schedule" {
			continue
		}
		for _, row := range d.Columns[2].Values {
			rows[row] = true
		}
		if n := d.rows(); n > 9*onPage.bars {
			t.Errorf("%d bars, want at most %d", n, 9*onPage.bars)
		}
	}
	if len(rows) != 500 {
		t.Errorf("%d jobs have bars, want all 500", len(rows))
	}
}

func TestSizings(t *testing.T) {
	of := func(hours ...float64) []Run {
		run := Run{Result: &metrics.Result{}}
		for _, h := range hours {
			run.Result.Jobs = append(run.Result.Jobs, metrics.JobResult{Allocated: 3600*h + 60, Profiling: 60})
		}
		return []Run{run}
	}
	tests := []struct {
		name   string
		runs   []Run
		want   string
		fifths []float64
	}{
		{"jobs as those of the paper", of(0.1, 1, 2, 9, 20, 80), "as in Shockwave §8.1", []float64{1, 2, 9, 20}},
		{"all are small by that", of(1, 2, 3, 4, 5.123, 6), "fifths of the jobs", []float64{2, 3, 4, 5.1}},
		{"none held GPUs", of(0), "as in Shockwave §8.1", []float64{0, 0, 0, 0}},
		{"no runs", nil, "as in Shockwave §8.1", []float64{0, 0, 0, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := sizings(test.runs)
			if got[0].Name != test.want {
				t.Errorf("first %q, want %q", got[0].Name, test.want)
			}
			for _, s := range got {
				if s.Name != "fifths of the jobs" {
					continue
				}
				if diff := cmp.Diff(test.fifths, s.Bounds); diff != "" {
					t.Errorf("fifths (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Shockwave §8.1: "Small (0.2-8 GPU-hours), Medium (8-16 GPU-hours), Large (16-72
// GPU-hours), and Extra Large (>72 GPU-hours)"; what is below is XSmall (§8.4).
func TestSizes_of_Shockwave(t *testing.T) {
	published := sizings(nil)[0]
	for hours, want := range map[float64]int{0: 0, 0.19: 0, 0.2: 1, 7.9: 1, 8: 2, 15.9: 2, 16: 3, 71.9: 3, 72.1: 4, 1e6: 4} {
		if got := published.of(hours); got != want {
			t.Errorf("%v GPU-hours: size %d, want %d", hours, got, want)
		}
	}
}

// TestHTML_scripts_are_small: all scripts of a report together take 120 kB at most.
func TestHTML_scripts_are_small(t *testing.T) {
	size := 0
	for _, script := range []string{baseJS, chartsJS, scheduleJS, mainJS, timelineJS} {
		size += len(script)
	}
	if page := html(t, Input{}); size > 120_000 || !strings.Contains(page, timelineJS) {
		t.Errorf("scripts take %d bytes, want 120,000 at most, all of them in the page", size)
	}
}
