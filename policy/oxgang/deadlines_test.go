package oxgang

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/goodput"
)

// TestPlan_starts_a_gang_in_time: a job of all GPUs starts soon after it would under EASY, although small jobs keep coming, and runs to its
// end without a restart. Without the promise it waits until the small jobs end.
func TestPlan_starts_a_gang_in_time(t *testing.T) {
	for margin, want := range map[float64][2]int{0.5: {60, 75}, 0: {400, 500}} {
		o := DefaultOptions()
		o.Margin = margin
		w := newSmall(t, o, 2, 4)
		first, ran := -1, 0
		for n := range 500 {
			if n%15 == 0 && n < 450 { // two jobs of four GPUs and half an hour keep all GPUs busy
				w.submit(job.ID(fmt.Sprint("small-", n)), 4, 30*time.Minute)
			}
			if n == 35 {
				w.submit("gang", 8, 3*time.Hour)
			}
			if has := w.round(); has["gang"] == 8 {
				if ran++; first < 0 {
					first = n
				}
			}
		}
		if first < want[0] || first > want[1] {
			t.Errorf("margin %v: the gang starts in minute %d, want %v", margin, first, want)
		}
		if margin > 0 && ran < 180 {
			t.Errorf("the gang ran for %d minutes, want 180 in a row", ran)
		}
	}
}

// On one node, with durations as estimated, a job takes at most 1.5 times as long as its twin under EASY plus 10
// minutes. Late jobs whose twins have ended can delay others, so 1 % of all jobs in many random worlds may take
// longer, but no job half an hour longer.
func TestPlan_keeps_its_promise(t *testing.T) {
	jobs, late := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for id, over := range delays(t, rt) {
			if jobs++; over > 10 {
				late++
			}
			if over > 30 {
				rt.Fatalf("job %s takes %v minutes more than promised", id, over)
			}
		}
	})
	if 100*late > jobs {
		t.Errorf("%d of %d jobs take longer than promised", late, jobs)
	}
}

// delays plays a random world, and returns the minutes by which each job takes longer than 1.5 times as long as its twin.
func delays(t *testing.T, rt *rapid.T) map[job.ID]float64 {
	w := newSmall(t, DefaultOptions(), 1, 8)
	began, due, all := w.s.Now, make(map[job.ID]time.Time), make(map[job.ID]float64)
	for n := 0; n < 120 || len(w.s.Jobs) > 0; n++ {
		if n < 120 && rapid.IntRange(0, 5).Draw(rt, "comes") == 0 {
			w.submit(job.ID(fmt.Sprint(n)), rapid.IntRange(1, 8).Draw(rt, "GPUs"), time.Duration(rapid.IntRange(5, 60).Draw(rt, "minutes"))*time.Minute)
		}
		w.round()
		for _, j := range w.before.Jobs {
			if st, ok := w.p.limit.easy.Compare(j.ID); ok {
				due[j.ID] = st.Due
			}
			submitted := j.Submitted.Sub(began).Minutes()
			all[j.ID] = float64(n+1) - submitted - 1.5*(due[j.ID].Sub(began).Minutes()-submitted)
		}
	}
	for id := range all {
		if due[id].IsZero() { // it ended before its twin began
			delete(all, id)
		}
	}
	return all
}

// TestPlan_does_not_stop_what_would_be_lost: jobs without checkpoints keep what they have until they end, although a job that is late claims their GPUs.
func TestPlan_does_not_stop_what_would_be_lost(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 8)
	w.submit("fragile", 6, 3*time.Hour, func(s *job.Spec) { s.NoCheckpoint = true })
	if has := w.round(); has["fragile"] != 6 {
		t.Fatalf("%v have GPUs", has)
	}
	w.submit("gang", 8, time.Hour)
	for n := range 178 {
		if has := w.round(); has["fragile"] != 6 {
			t.Fatalf("round %d: %v have GPUs", n, has)
		}
	}
	for range 5 {
		if has := w.round(); has["gang"] == 8 {
			return
		}
	}
	t.Error("the gang did not start when it would under EASY")
}

// TestPlan_starts_a_job_that_cannot_grow_on_enough_GPUs: two of eight GPUs are free for half an hour. A job that asks for four
// GPUs for four hours would end after eight hours on two. Without checkpoints it could never grow, so it waits for more.
// Without a limit it starts at once.
func TestPlan_starts_a_job_that_cannot_grow_on_enough_GPUs(t *testing.T) {
	for name, set := range map[string]func(*job.Spec){
		"no checkpoints":  func(s *job.Spec) { s.Adaptivity |= job.GPUCount; s.NoCheckpoint = true },
		"not preemptible": func(s *job.Spec) { s.Adaptivity |= job.GPUCount; s.NonPreemptive = true },
	} {
		for margin, want := range map[float64][2]int{0.5: {30, 4}, 0: {0, 2}} {
			o := DefaultOptions()
			o.Margin = margin
			w := newSmall(t, o, 1, 8)
			w.submit("busy", 6, 30*time.Minute, func(s *job.Spec) { s.NonPreemptive = true })
			w.submit("fragile", 4, 4*time.Hour, set)
			first, gpus := -1, 0
			for n := 0; n < 40 && first < 0; n++ {
				if gpus = w.round()["fragile"]; gpus > 0 {
					first = n
				}
			}
			if first < want[0] || first > want[0]+2 || gpus < want[1] || margin == 0 && gpus > want[1] {
				t.Errorf("%s, margin %v: it starts in minute %d on %d GPUs, want minute %d and %d GPUs", name, margin, first, gpus, want[0], want[1])
			}
		}
	}
}

// TestPlan_starts_a_job_that_cannot_grow_on_most_GPUs: a job that asks for 16 GPUs starts at once on 8, the most for a start,
// although it would end in time only on 16.
func TestPlan_starts_a_job_that_cannot_grow_on_most_GPUs(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 2, 8)
	w.submit("fragile", 16, time.Hour, func(s *job.Spec) { s.Adaptivity |= job.GPUCount; s.NoCheckpoint = true })
	if has := w.round(); has["fragile"] != 8 {
		t.Errorf("it starts on %d GPUs, want 8", has["fragile"])
	}
}

// TestDemand: a job that cannot grow asks for 8 GPUs for an hour. It waits for them although no nodes were found in the last
// rounds. An hour after its twin has ended it may also start on half of them, but not on a quarter.
func TestDemand(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 8)
	w.submit("fragile", 8, time.Hour, func(s *job.Spec) { s.Adaptivity |= job.GPUCount; s.NoCheckpoint = true })
	w.round()
	for after, want := range map[time.Duration][]int{0: nil, 2 * time.Hour: {4}} {
		s := *w.before
		s.Now = s.Now.Add(after)
		rows, err := w.p.program.Prepare(&s, func(rows []*goodput.Row) {
			rows[0].Worth = goodput.Worth{Weight: 1, Factors: make([]float64, rows[0].Columns())}
		})
		if err != nil {
			t.Fatal(err)
		}
		r, got := rows[0], []int(nil)
		for k := range r.Worth.Factors {
			if r.Column(k).GPUs < 8 {
				r.Worth.Factors[k] = 1
			}
		}
		w.p.limit.demand(&s, r, w.p.active[0])
		for k, f := range r.Worth.Factors {
			if f > 0 {
				got = append(got, r.Column(k).GPUs)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %v: may start on %v GPUs, want %v", after, got, want)
		}
	}
}

// TestLinear: few GPUs count at most in proportion to the requested ones. Here one GPU is estimated to be as fast as eight.
func TestLinear(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 8)
	w.submit("flat", 8, time.Hour, func(s *job.Spec) { s.Adaptivity |= job.GPUCount })
	w.s.Jobs[0].Perf = flat{}
	rows, err := w.p.program.Prepare(w.s, func(rows []*goodput.Row) {
		for _, r := range rows {
			r.Worth = goodput.Worth{Weight: 1, Base: 1.1, Factor: 1}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for k := range rows[0].Columns() {
		if n := rows[0].Column(k).GPUs; linear(w.s, rows[0], k) != 10*float64(n) {
			t.Errorf("%d GPUs: %v, want %d", n, linear(w.s, rows[0], k), 10*n)
		}
	}
}

// flat makes 80 samples a second on any number of GPUs.
type flat struct{ rated }

func (flat) Throughput(cluster.Allocation, job.BatchSize) float64 { return 80 }

// TestClaimOf_a_fixed_batch_size: a twin's rate counts the efficiency of a fixed batch size, and the goodputs of its row do not.
// A claim of the twin's rate would be met on half of the GPUs.
func TestClaimOf_a_fixed_batch_size(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 8)
	w.submit("half", 4, time.Hour)
	w.s.Jobs[0].Perf = half{}
	w.round()
	rows, err := w.p.program.Prepare(w.before, func([]*goodput.Row) {})
	if err != nil {
		t.Fatal(err)
	}
	twin, ok := w.p.limit.easy.Compare("half")
	if c := w.p.limit.claimOf(w.before, rows[0], &twin); !ok || twin.Rate != 20 || c.Rate != 40 {
		t.Errorf("the twin runs: %v, at %v; the claim is %v, want 20 and 40 samples a second", ok, twin.Rate, c.Rate)
	}
}

// A late job that can have other numbers of GPUs claims the fewest on which it ends in time, at most twice its twin's; a job
// that cannot be stopped, or has one number, claims what its twin has.
func TestClaimOf_a_late_job(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *job.Spec)
		gpus   int
	}{
		"elastic":     {func(s *job.Spec) { s.Adaptivity |= job.GPUCount }, 4},
		"one number":  {func(*job.Spec) {}, 2},
		"unstoppable": {func(s *job.Spec) { s.Adaptivity |= job.GPUCount; s.NonPreemptive = true }, 2},
	} {
		w := newSmall(t, DefaultOptions(), 1, 8)
		w.submit("late", 2, time.Hour, c.change)
		w.s.Jobs[0].Perf = steep{}
		w.round()
		rows, err := w.p.program.Prepare(w.before, func([]*goodput.Row) {})
		if err != nil {
			t.Fatal(err)
		}
		twin, ok := w.p.limit.easy.Compare("late")
		twin.Left, twin.Due = 1e9, w.before.Now
		if got := w.p.limit.claimOf(w.before, rows[0], &twin); !ok || got.Configuration.GPUs != c.gpus {
			t.Errorf("%s: claims %v, want %d GPUs", name, got.Configuration, c.gpus)
		}
	}
}

// steep is twice as fast on twice the GPUs.
type steep struct{ rated }

func (steep) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return 10 * float64(a.GPUs) }

// half has batches of half the efficiency.
type half struct{ rated }

func (half) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return 10 * float64(a.GPUs) }

func (half) Efficiency(float64) float64 { return 0.5 }
