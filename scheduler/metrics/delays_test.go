package metrics

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
)

func done(id job.ID, gpus int32, jct float64) JobTimes {
	return JobTimes{ID: id, GPUs: gpus, JCT: jct, Done: true}
}

// TestDelays: a job finishes later if it exceeds both limits. Jobs that one run lacks, or that did not end well, are not compared.
func TestDelays(t *testing.T) {
	baseline := []JobTimes{
		done("barely", 1, 6000), done("long", 4, 100_000), done("late", 4, 6000), done("worst", 20, 6000),
		done("early", 40, 6000), done("still active", 64, 6000), done("failed", 1, 6000), done("missing", 1, 6000),
		{ID: "unfinished before", GPUs: 1, JCT: 6000, Active: true},
	}
	policy := []JobTimes{
		done("only here", 1, 1), done("worst", 20, 9000), done("early", 40, 100), done("late", 4, 6601),
		done("barely", 1, 6600), done("long", 4, 110_000),
		{ID: "still active", GPUs: 64, JCT: 7000, Active: true},
		{ID: "failed", GPUs: 1, JCT: 60_000},
		done("unfinished before", 1, 90_000),
	}
	d := NewDelays("easy", 64)
	d.Add(7, baseline, policy, 64)
	sizes := Sizes(64)
	want := &Delays{
		Baseline: "easy", NotCompared: 3, Seeds: 1,
		DelayCount: DelayCount{Compared: 6, Later: 3, Worst: 3000, WorstJob: "worst", Seed: 7},
		BySize: []SizeDelays{
			{sizes[0], DelayCount{Compared: 1}},
			{sizes[1], DelayCount{Compared: 2, Later: 1, Worst: 601, WorstJob: "late", Seed: 7}},
			{sizes[2], DelayCount{Compared: 1, Later: 1, Worst: 3000, WorstJob: "worst", Seed: 7}},
			{sizes[3], DelayCount{Compared: 2, Later: 1, Worst: 1000, WorstJob: "still active", Seed: 7}},
		},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if d.Share() != 0.5 {
		t.Errorf("share %v, want 3 of 6", d.Share())
	}
	// Seeds are added up, and the worst keeps its seed. Every job of the baseline is counted once.
	d.Add(8, []JobTimes{done("late", 4, 6000), done("worst", 20, 6000)}, []JobTimes{done("late", 4, 9100), done("worst", 20, 6000)}, 64)
	if d.Later != 4 || d.Compared+d.NotCompared != 11 || d.WorstJob != "late" || d.Seed != 8 || d.Worst != 3100 {
		t.Errorf("over two seeds: %+v", d)
	}
}

// TestSizes: every number of GPUs is in the range that names it, for pools of all sizes.
func TestSizes(t *testing.T) {
	for pool := range 70 {
		sizes := Sizes(pool)
		for gpus := 1; gpus < 100; gpus++ {
			at := sizeOf(gpus, pool)
			if s := sizes[at]; gpus < s.From || s.To > 0 && gpus > s.To {
				t.Fatalf("%d GPUs in a pool of %d are in range %d, %v", gpus, pool, at, s)
			}
			if (at == 3) != (gpus > max(1, pool/2)) {
				t.Fatalf("%d GPUs in a pool of %d: above half is %v", gpus, pool, at == 3)
			}
		}
	}
	var names []string
	for _, s := range Sizes(64) {
		names = append(names, s.String())
	}
	if diff := cmp.Diff([]string{"1 GPU", "2 to 8 GPUs", "9 to 32 GPUs", "more than 32 GPUs"}, names); diff != "" {
		t.Error(diff)
	}
	if s := Sizes(1)[3].String(); s != "more than 1 GPU" {
		t.Errorf("got %q", s)
	}
}

// TestWaitsBySize: waits are by requested GPUs and by the largest pool, of several runs together.
func TestWaitsBySize(t *testing.T) {
	r := Result{
		Summary: Summary{Types: []TypeSummary{{GPUs: 8, MaxGPUs: 16}, {GPUs: 12, MaxGPUs: 12}}},
		Jobs: []JobResult{
			{ID: "first", GPUs: 1, Submitted: 10, FirstStarted: 15, JCT: 100, Outcome: Done},
			{ID: "never started", GPUs: 9, Submitted: 10, FirstStarted: -1, JCT: 700, Outcome: Active},
			{ID: "no size", Submitted: 10, FirstStarted: 10, JCT: 9, Outcome: Failed},
			{ID: "half", GPUs: 8, Submitted: 0, FirstStarted: 30, JCT: 40, Outcome: Done},
		},
	}
	pool := r.LargestPool()
	if pool != 16 {
		t.Fatalf("largest pool %d, want the most of the first type, 16", pool)
	}
	many := make([]JobTimes, 200)
	for i := range many {
		many[i] = JobTimes{GPUs: 1, Wait: float64(i)}
	}
	got := WaitsBySize(pool, r.JobTimes(), many)
	sizes := Sizes(pool)
	want := []Waits{
		{sizes[0], 202, 19905.0 / 202, 199, 197}, {sizes[1], 1, 30, 30, 30}, {sizes[2], 0, 0, 0, 0}, {sizes[3], 1, 700, 700, 700},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i := range got {
		if math.IsNaN(got[i].P99) {
			t.Errorf("%v: NaN", got[i])
		}
	}
}
