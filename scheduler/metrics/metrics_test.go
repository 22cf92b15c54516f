package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// oneLife is submitted at 0, starts on 2 t4 at 60, trains at 80, moves to 4
// a100 at 120, trains at 150, waits from 180, runs again at 240, trains at
// 250, ends at 310 in a round that ends at 360.
func oneLife(t testing.TB, opts Options) *script {
	s := begin(t, opts, node("n0", "t4", 4), node("n1", "a100", 4))
	s.submit(0, "a")
	s.round(60, run("a", "t4", 2, "n0"))
	s.report(80, "a")
	s.report(110, "a")
	s.round(120, run("a", "a100", 4, "n1"))
	s.report(150, "a")
	s.round(180, scheduler.Preempt{Job: "a"})
	s.round(240, run("a", "a100", 4, "n1"))
	s.report(250, "a")
	s.round(300)
	s.exit(310, "a", scheduler.Done)
	return s
}

func TestResult_one_life(t *testing.T) {
	s := oneLife(t, DefaultOptions())
	s.round(360)
	got := s.Result()
	want := []JobResult{{
		ID: "a", Class: "bert", GPUs: 1, Outcome: Done,
		Submitted: 0, FirstStarted: 60, Finished: 310, JCT: 310, Queued: 120, Restarts: 2, Preemptions: 1,
		Allocated: 2*60 + 4*60 + 4*120, ByType: []float64{120, 720},
		Restart: 2*20 + 4*30 + 4*10, Useful: 2*40 + 4*30 + 4*60, Idle: 4 * 50,
		Efficiency: 1, Contention: 1,
		Intervals: []Interval{
			{60, 80, 2, 0, Restoring},
			{80, 120, 2, 0, Training},
			{120, 150, 4, 1, Restoring},
			{150, 180, 4, 1, Training},
			{240, 250, 4, 1, Restoring},
			{250, 310, 4, 1, Training},
			{310, 360, 4, 1, Idle},
		},
	}}
	if diff := cmp.Diff(want, got.Jobs); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	wantSeries := Series{
		RoundsPerPoint: 1, Time: []float64{60, 120, 180, 240, 300, 360},
		Running: []float64{1, 1, 0, 1, 1, 0}, Waiting: []float64{0, 0, 1, 0, 0, 0},
		Busy:     [][]float64{{2, 0, 0, 0, 0, 0}, {0, 4, 0, 4, 4, 0}},
		Capacity: [][]float64{{4, 4, 4, 4, 4, 4}, {4, 4, 4, 4, 4, 4}},
	}
	if diff := cmp.Diff(wantSeries, got.Series); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestResult_last_round_without_a_boundary_runs_to_its_end(t *testing.T) {
	with, without := oneLife(t, DefaultOptions()), oneLife(t, DefaultOptions())
	with.round(360)
	same := cmpopts.IgnoreFields(Result{}, "Series", "Summary.Rounds", "Summary.MeanContention")
	if diff := cmp.Diff(with.Result(), without.Result(), same); diff != "" {
		t.Errorf("(-with a round at 360 +without):\n%s", diff)
	}
}

// The scheduler shows no rounds without jobs.
func TestRound_without_jobs_ends_on_time(t *testing.T) {
	s := oneLife(t, DefaultOptions())
	s.submit(1000, "b")
	s.round(1020)
	got := s.Result()
	if got.Jobs[0].Idle != 4*50 {
		t.Errorf("idle %v GPU-seconds, want 200", got.Jobs[0].Idle)
	}
	if diff := cmp.Diff([]float64{60, 120, 180, 240, 300, 360, 1020}, got.Series.Time); diff != "" {
		t.Errorf("times of points (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{1, 1, 0, 1, 1, 0, 0}, got.Series.Running); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
}

func TestResult_leaves_the_recorder_as_it_is(t *testing.T) {
	s := begin(t, DefaultOptions(), node("n0", "t4", 4))
	s.submit(0, "a")
	s.submit(0, "b")
	s.round(60, run("a", "t4", 2, "n0"), run("b", "t4", 2, "n0"))
	s.report(70, "a")
	s.exit(100, "b", scheduler.Failed)
	first := s.Result()
	if diff := cmp.Diff(first, s.Result()); diff != "" {
		t.Errorf("second Result differs (-first +second):\n%s", diff)
	}
	if a := first.Jobs[0]; a.Outcome != Active || a.Finished != -1 || a.Allocated != 80 || a.JCT != 100 {
		t.Errorf("active job %+v; want 80 GPU-seconds in 100 s, not finished", a)
	}
	s.round(120)
	s.exit(180, "a", scheduler.Done)
	s.round(180)
	if b := s.Result().Jobs[1]; b.Idle != 2*20 || b.Allocated != 2*60 {
		t.Errorf("failed job: idle %v of %v GPU-seconds, want 40 of 120", b.Idle, b.Allocated)
	}
}

func TestSummary(t *testing.T) {
	s := oneLife(t, DefaultOptions())
	s.submit(310, "never")
	s.exit(330, "never", scheduler.Cancelled)
	s.round(360)
	got := s.Result().Summary
	if got.Jobs != 2 || got.Done != 1 || got.Cancelled != 1 || got.Active != 0 || got.Failed != 0 {
		t.Errorf("counts %+v; want one done and one cancelled of two", got)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	near("makespan: first submission to last end", got.Makespan, 330)
	near("mean JCT of the job done", got.MeanJCT, 310)
	near("GPU-hours per job", got.GPUHoursPerJob, 840.0/3600)
	near("goodput ratio at efficiency 1", got.GoodputRatio, 440.0/840)
	near("t4 utilisation", got.Types[0].Utilisation, 120.0/(4*360))
	near("a100 utilisation", got.Types[1].Utilisation, 720.0/(4*360))
	near("utilisation", got.Utilisation, 840.0/(8*360))
	near("contention: five rounds of one job, one of none", got.MeanContention, 5.0/6)
}

func TestUtilisation_is_over_the_time_with_jobs(t *testing.T) {
	c := newCluster(t, node("n0", "t4", 4))
	s := begin(t, DefaultOptions(), node("n0", "t4", 4))
	s.cluster = c
	s.Event(at(0), scheduler.NodesChanged{Cluster: c})
	s.submit(60, "a")
	s.round(60, run("a", "t4", 4, "n0"))
	s.exit(120, "a", scheduler.Done)
	s.submit(180, "b") // a pause of 60 s between jobs counts
	s.round(180, run("b", "t4", 2, "n0"))
	s.exit(240, "b", scheduler.Done)
	s.Event(at(9999), scheduler.NodesChanged{Cluster: c})
	if got, want := s.Result().Summary.Utilisation, (240+120)/(4*180.0); got != want {
		t.Errorf("utilisation %v, want %v", got, want)
	}
}

func TestRestarts(t *testing.T) {
	free := run("a", "t4", 2, "n1")
	free.Free = true
	tests := []struct {
		name     string
		second   scheduler.Action
		restarts int
		restart  float64 // GPU-seconds
	}{
		{"a move costs a restore", run("a", "t4", 2, "n1"), 1, 2*20 + 2*60},
		{"a free move costs nothing", free, 0, 2 * 20},
		{"a new batch size on the same GPUs costs nothing", run("a", "t4", 2, "n0"), 0, 2 * 20},
		{"a new GPU count costs a restore", run("a", "t4", 4, "n0"), 1, 2*20 + 4*60},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := begin(t, DefaultOptions(), node("n0", "t4", 4), node("n1", "t4", 4))
			s.submit(0, "a")
			s.round(60, run("a", "t4", 2, "n0"))
			s.report(80, "a")
			s.round(120, test.second)
			s.exit(180, "a", scheduler.Done)
			s.round(180)
			got := s.Result().Jobs[0]
			if got.Restarts != test.restarts || got.Restart != test.restart {
				t.Errorf("%d restarts, %v GPU-seconds; want %d, %v", got.Restarts, got.Restart, test.restarts, test.restart)
			}
		})
	}
}

func TestLost_job_holds_nothing_and_restarts(t *testing.T) {
	s := begin(t, DefaultOptions(), node("n0", "t4", 4), node("n1", "t4", 4))
	s.submit(0, "a")
	s.round(60, run("a", "t4", 4, "n0"))
	s.report(60, "a")
	s.Event(at(90), scheduler.NodesChanged{Cluster: newCluster(t, node("n1", "t4", 4))})
	s.exit(90, "a", scheduler.Lost)
	s.cluster = newCluster(t, node("n1", "t4", 4))
	s.round(120, run("a", "t4", 4, "n1"))
	s.exit(180, "a", scheduler.Done)
	got := s.Result()
	a := got.Jobs[0]
	if a.Restarts != 1 || a.Useful != 4*30 || a.Restart != 4*60 || a.Queued != 90 {
		t.Errorf("job %+v; want 1 restart, 120 useful and 240 restart GPU-seconds, 90 s queued", a)
	}
	if want := 360.0 / (8*90 + 4*90); got.Summary.Utilisation != want {
		t.Errorf("utilisation %v, want %v of the capacity there was", got.Summary.Utilisation, want)
	}
}

func TestProfiling(t *testing.T) {
	n := node("n0", "t4", 4)
	n.Power, n.Price = 100, 2
	s := begin(t, DefaultOptions(), n)
	s.submit(0, "a")
	s.round(60, scheduler.Profile{Job: "a", Types: []cluster.GPUType{"t4"}})
	s.Event(at(80), scheduler.Reported{Report: job.Report{
		Job: "a", Interval: 20 * time.Second, Profile: true,
		Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "t4"},
	}})
	s.Event(at(80), scheduler.Profiled{Job: "a"})
	s.round(120, run("a", "t4", 4, "n0"))
	s.report(120, "a")
	s.exit(180, "a", scheduler.Done)
	got := s.Result().Jobs[0]
	if got.Profiling != 20 || got.Useful != 240 || got.Allocated != 260 || got.ByType[0] != 260 {
		t.Errorf("job %+v; want 20 profiling + 240 useful GPU-seconds", got)
	}
	if want := 260 * 100 / 3.6e6; math.Abs(got.Energy-want) > 1e-12 {
		t.Errorf("energy %v kWh, want %v", got.Energy, want)
	}
	if want := 260.0 / 3600 * 2; math.Abs(got.Cost-want) > 1e-12 {
		t.Errorf("cost %v, want %v", got.Cost, want)
	}
}

// Efficiency at B = 20 with B0 = 10 and phi = B0 * var / sqr = 10 * 3 / 1 is
// (30 + 10) / (30 + 20) = 0.8. Source: Sia §2.1, Eq. 2.3.
func TestEfficiency_is_weighted_by_GPU_time(t *testing.T) {
	s := begin(t, DefaultOptions(), node("n0", "t4", 4))
	s.submit(0, "a")
	s.round(60, run("a", "t4", 2, "n0"))
	rep := job.Report{Job: "a", Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}}
	s.Event(at(60), scheduler.Reported{Report: rep})
	rep.Interval, rep.GradSqr, rep.GradVar = 30*time.Second, 1, 3
	rep.Batch = job.BatchSize{Local: 10}
	s.Event(at(90), scheduler.Reported{Report: rep})
	rep.Interval, rep.Batch = 10*time.Second, job.BatchSize{Local: 5}
	s.Event(at(100), scheduler.Reported{Report: rep})
	s.exit(120, "a", scheduler.Done)
	got := s.Result()
	want := (30*0.8 + 10*1) / 40
	if e := got.Jobs[0].Efficiency; math.Abs(e-want) > 1e-12 {
		t.Errorf("efficiency %v, want %v", e, want)
	}
	if g := got.Summary.GoodputRatio; math.Abs(g-want) > 1e-12 {
		t.Errorf("goodput ratio %v, want %v: nothing was lost", g, want)
	}
}

// Two jobs share 8 GPUs for the first 60 s of a 120 s life: N_avg is 1.5.
func TestRho_uses_the_mean_contention_of_the_life(t *testing.T) {
	opts := DefaultOptions()
	asked := map[cluster.GPUType]float64{}
	opts.Isolated = func(_ *job.Spec, typ cluster.GPUType, gpus float64) time.Duration {
		asked[typ] = gpus
		return map[cluster.GPUType]time.Duration{"t4": 240 * time.Second, "a100": 60 * time.Second}[typ]
	}
	s := begin(t, opts, node("n0", "t4", 6), node("n1", "a100", 2))
	s.submit(0, "a")
	s.submit(0, "b")
	s.round(0, run("a", "t4", 4, "n0"), run("b", "a100", 2, "n1"))
	s.exit(60, "b", scheduler.Cancelled)
	s.round(60)
	s.exit(120, "a", scheduler.Done)
	got := s.Result()
	if n := got.Jobs[0].Contention; n != 1.5 {
		t.Errorf("N_avg %v, want 1.5", n)
	}
	if diff := cmp.Diff(map[cluster.GPUType]float64{"t4": 4, "a100": 2 / 1.5}, asked); diff != "" {
		t.Errorf("GPUs of the isolated clusters (-want +got):\n%s", diff)
	}
	if want := (6*0.5 + 2*2.0) / 8; got.Jobs[0].Rho != want {
		t.Errorf("rho %v, want %v", got.Jobs[0].Rho, want)
	}
	if got.Jobs[1].Rho != 0 || got.Summary.Rho.Worst != 0.875 || got.Summary.Rho.Unfair != 0 {
		t.Errorf("summary %+v; want worst 0.875 over the job that is done", got.Summary.Rho)
	}
}

// What is fair may not depend on the run; of a job of which it is not known there
// is no rho, and of a run without any, no summary.
func TestRho_of_fair_times_and_a_threshold(t *testing.T) {
	fair := map[job.ID]time.Duration{"a": 100 * time.Second, "b": 150 * time.Second, "c": 0}
	opts := DefaultOptions()
	opts.Fair, opts.UnfairAbove = func(spec *job.Spec) time.Duration { return fair[spec.ID] }, 1.1
	end := func() *Result {
		s := begin(t, opts, node("n0", "t4", 4))
		for _, id := range []job.ID{"a", "b", "c"} {
			s.submit(0, id)
		}
		s.round(0, run("a", "t4", 1, "n0"), run("b", "t4", 1, "n0"), run("c", "t4", 1, "n0"))
		s.exit(105, "a", scheduler.Done)
		s.exit(180, "b", scheduler.Done)
		s.exit(240, "c", scheduler.Done)
		return s.Result()
	}
	got := end()
	if diff := cmp.Diff([]float64{1.05, 1.2, 0}, []float64{got.Jobs[0].Rho, got.Jobs[1].Rho, got.Jobs[2].Rho}); diff != "" {
		t.Errorf("rho (-want +got):\n%s", diff)
	}
	want := &RhoSummary{Static: true, Mean: 1.125, Worst: 1.2, UnfairAbove: 1.1, Unfair: 0.5}
	if diff := cmp.Diff(want, got.Summary.Rho, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	clear(fair)
	if got := end().Summary.Rho; got != nil {
		t.Errorf("summary %+v of unknown rhos, want none", got)
	}
}

func TestSeries_stays_small_and_keeps_the_mean(t *testing.T) {
	for _, rounds := range []int{1, 7, 8, 9, 100, 1001} {
		rec := recording{limit: 8, stride: 1}
		sum := 0.0
		for i := range rounds {
			rec.add(float64(i), []float64{float64(i), 1})
			sum += float64(i)
		}
		s := rec.series(0, false)
		if len(s.Time) > 8 {
			t.Errorf("%d rounds: %d points, want at most 8", rounds, len(s.Time))
		}
		got, left := 0.0, rounds
		for _, v := range s.Running {
			weight := min(left, s.RoundsPerPoint)
			got, left = got+v*float64(weight), left-weight
		}
		if left != 0 || math.Abs(got-sum) > 1e-6*sum {
			t.Errorf("%d rounds: points sum to %v with %d rounds missing, want %v", rounds, got, left, sum)
		}
	}
}

func TestIntervals_are_capped(t *testing.T) {
	opts := DefaultOptions()
	opts.MaxIntervals = 3
	s := oneLife(t, opts)
	got := s.Result()
	if len(got.Jobs[0].Intervals) != 3 || got.IntervalsDropped != 4 {
		t.Errorf("%d intervals, %d dropped; want 3 and 4", len(got.Jobs[0].Intervals), got.IntervalsDropped)
	}
	if got.Jobs[0].Allocated != 840 {
		t.Errorf("allocated %v, want 840 all the same", got.Jobs[0].Allocated)
	}
}

func TestEmpty(t *testing.T) {
	r, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r.Result())
	if err != nil || strings.Contains(string(text), "null") {
		t.Errorf("an empty result: %s, %v", text, err)
	}
}

func TestResult_reads_its_own_JSON(t *testing.T) {
	opts := DefaultOptions()
	opts.Isolated = func(*job.Spec, cluster.GPUType, float64) time.Duration { return time.Minute }
	want := oneLife(t, opts).Result()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if err := new(State).UnmarshalText([]byte("asleep")); err == nil {
		t.Error("a state that there is not was read without an error")
	}
}

func TestValidate_joins_all_complaints(t *testing.T) {
	if _, err := New(Options{UnfairAbove: math.MaxFloat64, MaxPoints: 2}); err != nil {
		t.Errorf("the smallest options: %v", err)
	}
	for _, v := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if _, err := New(Options{UnfairAbove: v, MaxPoints: 2}); err == nil || !strings.Contains(err.Error(), "UnfairAbove") {
			t.Errorf("UnfairAbove %v: %v, want that it is refused", v, err)
		}
	}
	_, err := New(Options{UnfairAbove: math.NaN(), MaxPoints: 1, MaxIntervals: -1})
	if err == nil || strings.Count(err.Error(), "want") != 3 {
		t.Errorf("error %v, want three complaints", err)
	}
}

func TestQuantile_is_nearest_rank(t *testing.T) {
	sorted := make([]float64, 160)
	for i := range sorted {
		sorted[i] = float64(i + 1)
	}
	for q, want := range map[float64]float64{0: 1, 0.25: 40, 0.5: 80, 0.99: 159, 1: 160} {
		if got := Quantile(sorted, q); got != want {
			t.Errorf("quantile %v of 1 to 160 is %v, want %v", q, got, want)
		}
	}
	if got := Quantile(sorted[:100], 0.07); got != 7 { // 0.07 * 100 is above 7
		t.Errorf("quantile 0.07 of 1 to 100 is %v, want 7", got)
	}
	if Quantile[float64](nil, 0.5) != 0 || Quantile(sorted[:3], 0.5) != 2 {
		t.Error("want 0 of nothing, and the middle of 3 values")
	}
}

func TestJobResult_is_compact(t *testing.T) {
	if size := unsafe.Sizeof(JobResult{}); size > 300 {
		t.Errorf("a record takes %d bytes, want at most 300", size)
	}
}

// TestConservation plays random scripts and checks, with sums taken in another
// way than the accounts are kept, that no GPU time is lost or counted twice.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := begin(t, DefaultOptions(), node("n0", "t4", 64), node("n1", "a100", 64))
		playRandom(rt, s)
		checkConservation(rt, s.Result())
	})
}

// playRandom runs up to six jobs through random events.
func playRandom(rt *rapid.T, s *script) {
	now := 0.0
	live := map[job.ID]bool{}
	for i := range 6 {
		id := job.ID(fmt.Sprint("j", i))
		live[id] = true
		s.submit(0, id)
	}
	places := []struct {
		typ cluster.GPUType
		on  cluster.NodeID
	}{{"t4", "n0"}, {"a100", "n1"}}
	for range rapid.IntRange(1, 12).Draw(rt, "rounds") {
		now = 60 * math.Ceil((now+0.5)/60)
		var acts []scheduler.Action
		for i := range 6 {
			id := job.ID(fmt.Sprint("j", i))
			switch rapid.IntRange(0, 3).Draw(rt, "action") {
			case 0:
				acts = append(acts, scheduler.Preempt{Job: id})
			case 1, 2:
				p := rapid.SampledFrom(places).Draw(rt, "place")
				acts = append(acts, run(id, p.typ, rapid.IntRange(1, 8).Draw(rt, "gpus"), p.on))
			}
		}
		s.round(now, acts...)
		for range rapid.IntRange(0, 5).Draw(rt, "events") {
			now += float64(rapid.IntRange(0, 11).Draw(rt, "wait"))
			id := job.ID(fmt.Sprint("j", rapid.IntRange(0, 5).Draw(rt, "job")))
			if rapid.IntRange(0, 3).Draw(rt, "event") > 0 {
				s.report(now, id)
			} else if live[id] {
				how := rapid.SampledFrom([]scheduler.Outcome{scheduler.Done, scheduler.Failed, scheduler.Lost}).Draw(rt, "how")
				live[id] = how == scheduler.Lost
				s.exit(now, id, how)
			}
		}
	}
}

func checkConservation(t *rapid.T, r *Result) {
	byType := make([]float64, len(r.Types))
	window := 0.0 // all were submitted at 0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		held, typed := 0.0, 0.0
		window = max(window, j.JCT)
		states := map[State]float64{}
		for k, iv := range j.Intervals {
			if iv.End <= iv.Start || k > 0 && iv.Start < j.Intervals[k-1].End {
				t.Fatalf("job %s: interval %v after %v", j.ID, iv, j.Intervals[max(0, k-1)])
			}
			window = max(window, iv.End)
			used := float64(iv.GPUs) * (iv.End - iv.Start)
			held += used
			states[iv.State] += used
		}
		for g, v := range j.ByType {
			typed += v
			byType[g] += v
		}
		if math.Abs(held-j.Allocated) > 1e-6 || math.Abs(typed-j.Allocated) > 1e-6 {
			t.Fatalf("job %s: allocated %v, intervals %v, by type %v", j.ID, j.Allocated, held, typed)
		}
		if states[Training] != j.Useful || states[Restoring] != j.Restart || states[Idle] != j.Idle {
			t.Fatalf("job %s: useful %v, restart %v, idle %v; intervals %v", j.ID, j.Useful, j.Restart, j.Idle, states)
		}
		if j.Queued < 0 || j.Queued > j.JCT {
			t.Fatalf("job %s: queued %v of %v s", j.ID, j.Queued, j.JCT)
		}
	}
	for g, ts := range r.Summary.Types {
		if math.Abs(ts.Hours*3600-byType[g]) > 1e-6 {
			t.Fatalf("type %s: %v GPU-hours, jobs %v GPU-seconds", ts.Type, ts.Hours, byType[g])
		}
		if held := ts.Utilisation * 64 * window; math.Abs(held-byType[g]) > 1e-6 {
			t.Fatalf("type %s: held %v GPU-seconds by utilisation, %v by jobs", ts.Type, held, byType[g])
		}
	}
}

// BenchmarkRecorder plays jobs one after another through arrival, start, two
// reports and end, 100 at a time.
func BenchmarkRecorder(b *testing.B) {
	for b.Loop() {
		s := begin(b, DefaultOptions(), node("n0", "t4", 3500))
		for i := range 50_000 {
			id := job.ID(fmt.Sprint("job-", i))
			t := float64(i)
			s.submit(t, id)
			s.round(t, run(id, "t4", 4, "n0"))
			s.report(t, id)
			s.report(t, id)
			if i >= 100 {
				s.exit(t, job.ID(fmt.Sprint("job-", i-100)), scheduler.Done)
			}
		}
		if got := s.Result().Summary.Done; got != 49_900 {
			b.Fatalf("%d jobs done, want 49900", got)
		}
	}
	b.ReportMetric(50_000*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// What is not measured still holds GPUs and counts as contention.
func TestResult_of_measured_jobs(t *testing.T) {
	o := DefaultOptions()
	o.Measured = func(spec *job.Spec) bool { return spec.ID == "b" }
	s := begin(t, o, node("n0", "t4", 4))
	s.submit(0, "a")
	s.submit(10, "b")
	s.submit(20, "c")
	s.round(60, run("a", "t4", 2, "n0"), run("b", "t4", 2, "n0"))
	s.exit(100, "a", scheduler.Done)
	s.exit(110, "b", scheduler.Done)
	s.round(120)
	got := s.Result()
	if len(got.Jobs) != 1 || got.Jobs[0].ID != "b" || len(got.Jobs[0].Intervals) == 0 {
		t.Fatalf("jobs %+v, want b alone, with its intervals", got.Jobs)
	}
	sum := got.Summary
	if sum.Jobs != 1 || sum.Done != 1 || sum.Active != 0 || sum.MeanJCT != 100 || sum.Makespan != 100 {
		t.Errorf("summary %+v, want one job of 100 s", sum)
	}
	if sum.MaxContention != 3 || sum.Utilisation != 4.0*60/(4*120) {
		t.Errorf("contention %d, utilisation %v; want 3 jobs, and the whole node from 60 to 120 s", sum.MaxContention, sum.Utilisation)
	}
}

// What is told as it happens is what the Result has in the end: every interval though few are kept, each
// job once, those that are active by Finish, and each round.
func TestStream(t *testing.T) {
	var jobs []JobResult
	held := make(map[job.ID][]Interval)
	var types []string
	rounds := 0
	o := DefaultOptions()
	o.MaxIntervals = 3
	o.Stream = Stream{
		Job: func(j *JobResult) { jobs = append(jobs, *j) },
		Held: func(id job.ID, typ cluster.GPUType, i Interval) {
			held[id], types = append(held[id], i), append(types, string(typ))
		},
		Round: func(s *RoundState) {
			if rounds++; rounds == 2 && (s.Time != 120 || s.Running != 1 || s.Waiting != 0 || s.Busy[1] != 4 || s.Capacity[0] != 4) {
				t.Errorf("second round: %+v", s)
			}
		},
	}
	s := oneLife(t, o)
	s.submit(320, "b")
	s.round(360, run("b", "t4", 1, "n0"))
	s.report(370, "b")
	s.report(400, "b")
	if _ = s.Result(); len(jobs) != 1 || len(held["b"]) != 0 {
		t.Errorf("%d jobs and %v were told, want the one that has ended, and nothing of what goes on", len(jobs), held["b"])
	}
	res := s.Finish()
	want := []Interval{
		{60, 80, 2, 0, Restoring},
		{80, 120, 2, 0, Training},
		{120, 150, 4, 1, Restoring},
		{150, 180, 4, 1, Training},
		{240, 250, 4, 1, Restoring},
		{250, 310, 4, 1, Training},
		{310, 360, 4, 1, Idle},
	}
	if diff := cmp.Diff(want, held["a"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Interval{{360, 370, 1, 0, Restoring}, {370, 400, 1, 0, Training}}, held["b"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(res.Jobs, jobs); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(types, " "); got != "t4 t4 a100 a100 a100 a100 a100 t4 t4" {
		t.Errorf("types %s", got)
	}
	if rounds != 6 || len(res.Jobs) != 2 {
		t.Errorf("%d rounds and %d jobs, want 6 and 2", rounds, len(res.Jobs))
	}
}
