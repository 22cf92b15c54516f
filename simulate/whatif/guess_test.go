package whatif_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/whatif"
	"github.com/oxgang/oxgang/simulate/workload"
)

var errCut = errors.New("cut")

// A cut world ends after the round at a time.
type cut struct {
	scheduler.Backend
	at time.Duration
}

func (c cut) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if deadline.Sub(sim.Epoch) > c.at {
		return nil, errCut
	}
	return c.Backend.Next(ctx, deadline)
}

// A watch keeps what it sees.
type watch struct {
	reports map[job.ID][]job.Report
	ends    map[job.ID]time.Duration
	starts  map[job.ID]time.Duration // the last
	asked   map[job.ID]job.BatchSize
}

func newWatch() *watch {
	return &watch{map[job.ID][]job.Report{}, map[job.ID]time.Duration{}, map[job.ID]time.Duration{}, map[job.ID]job.BatchSize{}}
}

func (w *watch) Event(now time.Time, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Reported:
		w.reports[ev.Job] = append(w.reports[ev.Job], ev.Report)
	case scheduler.Exited:
		w.ends[ev.Job] = now.Sub(sim.Epoch)
	}
}

func (w *watch) Round(s *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) {
	for _, a := range acts {
		if r, ok := a.(scheduler.Run); ok {
			w.starts[r.Job], w.asked[r.Job] = s.Now.Sub(sim.Epoch), r.Batch
		}
	}
}

func (r *run) until(t testing.TB, name string, at time.Duration, obs ...scheduler.Observer) *policy.Snapshot {
	t.Helper()
	w, err := sim.New(r.cluster, r.catalog, r.arrivals, r.world)
	if err != nil {
		t.Fatal(err)
	}
	p, placer, err := fresh(name)()
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheduler.New(p, placer, r.cluster, r.scheduler)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), cut{w, at}, obs...); !errors.Is(err, errCut) {
		t.Fatalf("got %v, want the run cut at %v", err, at)
	}
	return s.Snapshot(sim.Epoch.Add(at))
}

// left returns the run that goes on after a snapshot.
func (r *run) left(snap *policy.Snapshot, seen *watch) *run {
	rest := *r
	rest.arrivals, rest.world.Initial = nil, map[job.ID]*sim.InitialState{}
	for _, j := range snap.Jobs {
		for _, a := range r.arrivals {
			if a.Spec.ID != j.ID {
				continue
			}
			st := &sim.InitialState{Status: j.Status, Batch: seen.asked[j.ID], Reports: seen.reports[j.ID]}
			for _, at := range []*time.Time{&st.Status.Submitted, &st.Status.FirstStarted, &st.Status.Since} {
				if !at.IsZero() {
					*at = at.Add(sim.Epoch.Sub(snap.Now))
				}
			}
			if j.Phase == job.Restoring {
				st.Restore = r.catalog[a.Application].RestartDelay - snap.Now.Sub(j.Since)
			}
			if st.Status.Phase == job.Profiling {
				st.Status.Phase = job.Waiting
			}
			a.At = 0
			rest.arrivals, rest.world.Initial[j.ID] = append(rest.arrivals, a), st
		}
	}
	return &rest
}

// flat makes training the same from its begin to its end, and all jobs come soon.
func (r *run) flat() *run {
	for _, app := range r.catalog {
		last := len(app.Curve.Ends) - 1
		c := &workload.Curve{Ends: app.Curve.Ends[last:], Batches: app.Curve.Batches[:1]}
		c.Sqr, c.Var = [][]float64{app.Curve.Sqr[0][:1]}, [][]float64{app.Curve.Var[0][:1]}
		app.Curve = c
	}
	for i := range r.arrivals {
		r.arrivals[i].At = time.Duration(i) * 10 * time.Second
	}
	return r
}

// oneIs reports whether one time of a guess is right, give or take some. The other is that of training which
// is at its best from now on, and is not earlier for each job: others may take the GPUs.
func oneIs(g whatif.Guess, want, off time.Duration) bool {
	return (g.Early-want).Abs() <= off || (g.Late-want).Abs() <= off
}

// TestAhead_is_exact: with models that are true, and training that stays as it is, one of the two times is
// that at which jobs start and end if the run goes on.
func TestAhead_is_exact(t *testing.T) {
	for _, name := range []string{"fifo", "srtf", "sia"} {
		t.Run(name, func(t *testing.T) {
			r := mixed(t, 20).flat()
			r.knowing()
			r.scheduler.Profile = true // tells of gradients
			if name == "sia" {         // which asks the truth for batch sizes that nobody measured
				for i := range r.arrivals {
					r.arrivals[i].Spec.Adaptivity = job.Adaptive
				}
			}
			whole, seen := newWatch(), newWatch()
			if err := r.play(t, name, func(b scheduler.Backend) scheduler.Backend { return b }, whole); err != nil {
				t.Fatal(err)
			}
			learner := whatif.NewLearner(r.estimate())
			snap := r.until(t, name, time.Hour, seen, learner)
			o := options(name)
			o.Scheduler, o.Measured = r.scheduler, learner.Measured()
			etas, err := whatif.Ahead(t.Context(), snap, o)
			if err != nil {
				t.Fatal(err)
			}
			waiting := 0
			for i, e := range etas {
				if e.End.Why != whatif.Known || e.Start.Why != whatif.Known {
					t.Errorf("%v: want its times known", e)
				}
				if !oneIs(e.End, whole.ends[e.Job]-time.Hour, 2*time.Second) {
					t.Errorf("job %s ends in %v to %v, want %v as it did", e.Job, e.End.Early, e.End.Late, whole.ends[e.Job]-time.Hour)
				}
				if !snap.Jobs[i].Holding() {
					waiting++
				}
			}
			if name != "sia" && waiting == 0 || waiting == len(etas) {
				t.Errorf("%d of %d jobs wait, want some", waiting, len(etas))
			}
		})
	}
}

// TestAhead_brackets: where nobody knows how the gradients of a class go on, the ends are between those of
// training that stays as it is and those of training at its best, a tenth of which may be off.
func TestAhead_brackets(t *testing.T) {
	r := mixed(t, 20)
	for i := range r.arrivals {
		r.arrivals[i].At = time.Duration(i) * 10 * time.Second
	}
	r.knowing()
	r.scheduler.Profile = true
	whole := newWatch()
	if err := r.play(t, "fifo", func(b scheduler.Backend) scheduler.Backend { return b }, whole); err != nil {
		t.Fatal(err)
	}
	const at = 10 * time.Minute
	learner := whatif.NewLearner(r.estimate())
	snap := r.until(t, "fifo", at, learner)
	o := options("fifo")
	o.Scheduler, o.Measured = r.scheduler, learner.Measured()
	etas, err := whatif.Ahead(t.Context(), snap, o)
	if err != nil {
		t.Fatal(err)
	}
	between, wide := 0, 0
	for _, e := range etas {
		end := whole.ends[e.Job] - at
		if e.End.Early-e.End.Early/10 <= end && end <= e.End.Late+time.Minute {
			between++
		}
		if e.End.Late > e.End.Early {
			wide++
		}
	}
	if between < len(etas)*9/10 || wide < len(etas)/2 {
		t.Errorf("of %d ends %d are between both times, which differ in %d cases; want nine of ten, and half", len(etas), between, wide)
	}
}

// TestAhead_starts: jobs of one queue start as those ahead of them end.
func TestAhead_starts(t *testing.T) {
	r, seen := mixed(t, 20).flat(), newWatch()
	r.knowing()
	r.scheduler.Profile = true
	whole := newWatch()
	if err := r.play(t, "fifo", func(b scheduler.Backend) scheduler.Backend { return b }, whole); err != nil {
		t.Fatal(err)
	}
	snap := r.until(t, "fifo", time.Hour, seen)
	o := options("fifo")
	o.Scheduler = r.scheduler
	etas, err := whatif.Ahead(t.Context(), snap, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range etas {
		want := whole.starts[e.Job] - time.Hour
		if snap.Jobs[i].Holding() {
			want = 0
		}
		if !oneIs(e.Start, want, 0) {
			t.Errorf("job %s starts in %v to %v, want %v as it did", e.Job, e.Start.Early, e.Start.Late, want)
		}
	}
}

func (r *run) estimate() estimate.Options {
	o := r.scheduler.Estimate
	o.Types = r.cluster.Types()
	return o
}

// TestAhead_says_why: what cannot be known has its reason of the closed list.
func TestAhead_says_why(t *testing.T) {
	r := mixed(t, 8).flat()
	r.knowing()
	r.arrivals[2].Spec.Target = 0
	snap := r.until(t, "fifo", 10*time.Minute)
	row := *snap.Jobs[4]
	row.Perf = nil
	snap.Jobs[4] = &row
	impossible, spec := *snap.Jobs[5], *snap.Jobs[5].Spec
	spec.GPUTypes, impossible.Spec = []cluster.GPUType{"h100"}, &spec
	impossible.Allocation, impossible.Placement, impossible.Phase = cluster.Allocation{}, nil, job.Waiting
	snap.Jobs[5] = &impossible
	o := options("fifo")
	o.Scheduler, o.Rounds = r.scheduler, 60
	etas, err := whatif.Ahead(t.Context(), snap, o)
	if err != nil {
		t.Fatal(err)
	}
	got := map[job.ID]whatif.Why{}
	for _, e := range etas {
		got[e.Job] = e.End.Why
	}
	for id, want := range map[job.ID]whatif.Why{"j02": whatif.NoTarget, snap.Jobs[4].ID: whatif.NoSpeed, impossible.ID: whatif.Beyond} {
		if got[id] != want {
			t.Errorf("job %s: %v, want %v", id, got[id], want)
		}
	}
	for _, why := range whatif.Whys() {
		if why.String() == "unknown" || why.String() == "" {
			t.Errorf("reason %d has no name", why)
		}
	}
}

// unsaid is what is believed of a job of a known class whose program has not said its batch
// size yet: how fast it is, and nothing of its efficiency.
type unsaid struct{ linear }

func (unsaid) Efficiency(float64) float64 { return 0 }

// TestAhead_of_a_job_that_is_not_described: it holds what it gets to the end, and whoever
// waits behind it does not start.
func TestAhead_of_a_job_that_is_not_described(t *testing.T) {
	submitted := func(s *job.Spec) { s.Batch, s.BatchSize = job.BatchLimits{}, 0 }
	for _, holding := range []cluster.NodeID{"", "a100-0"} {
		for name, model := range map[string]perf.Model{"no model": nil, "that of its class": unsaid{1}} {
			snap := scenario(t, nodes(t, 4, "a100"), row{id: "new", gpus: 4, on: holding, change: submitted}, row{id: "behind", gpus: 4, target: 100})
			snap.Jobs[0].Perf = model
			o := options("fifo")
			o.Rounds = 30
			etas, err := whatif.Ahead(t.Context(), snap, o)
			if err != nil {
				t.Fatal(err)
			}
			if start := etas[0].Start; start.Why != whatif.Known || start.Late > time.Minute {
				t.Errorf("on %q, %s: starts in %+v, want the next round", holding, name, start)
			}
			if why := etas[0].End.Why; why != whatif.NoSpeed && why != whatif.NoTarget {
				t.Errorf("on %q, %s: its end is %v, want it not known", holding, name, why)
			}
			if why := etas[1].Start.Why; why != whatif.Beyond {
				t.Errorf("on %q, %s: who waits behind starts in %+v, want that it does not", holding, name, etas[1].Start)
			}
		}
	}
}

// TestAhead_is_a_range: early <= late, whatever runs, and the same again.
func TestAhead_is_a_range(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := mixed(t, rapid.IntRange(1, 6).Draw(rt, "jobs")).flat()
		name := rapid.SampledFrom([]string{"fifo", "srtf", "las", "sia"}).Draw(rt, "policy")
		at := time.Duration(rapid.IntRange(1, 4).Draw(rt, "minutes")) * time.Minute
		snap := r.until(t, name, at)
		o := options(name)
		o.Scheduler, o.Rounds = r.scheduler, 150
		o.Between = time.Duration(rapid.IntRange(0, 20).Draw(rt, "between")) * time.Minute
		first, err := whatif.Ahead(t.Context(), snap, o)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := whatif.Ahead(t.Context(), snap, o)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			rt.Fatalf("not the same again: %s", diff)
		}
		for _, e := range first {
			for _, x := range []whatif.Guess{e.Start, e.End} {
				if x.Early > x.Late || x.Why != whatif.Known && (x.Late > 0 || x.Open) {
					rt.Errorf("job %s: %+v, want an ordered range, or none", e.Job, x)
				}
			}
		}
	})
}

// TestAhead_with_arrivals: others that come make it late for those that wait.
func TestAhead_with_arrivals(t *testing.T) {
	r := mixed(t, 20).flat()
	r.knowing()
	snap := r.until(t, "las", 20*time.Minute)
	o := options("las")
	o.Scheduler = r.scheduler
	alone, err := whatif.Ahead(t.Context(), snap, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Between = 5 * time.Minute
	pressed, err := whatif.Ahead(t.Context(), snap, o)
	if err != nil {
		t.Fatal(err)
	}
	later, hopeful := 0, 0
	for i := range alone {
		if x, y := pressed[i].End, alone[i].End; !oneIs(y, x.Early, 0) && !oneIs(y, x.Late, 0) {
			t.Errorf("job %s: %+v, and without others %+v; want that they share a time", alone[i].Job, x, y)
		}
		if pressed[i].End.Late > alone[i].End.Late {
			later++
		}
		if pressed[i].End.Early == alone[i].End.Early {
			hopeful++
		}
	}
	if hopeful < len(alone)*3/4 { // it has no others in either case
		t.Errorf("of %d jobs %d have the same hopeful end, want most", len(alone), hopeful)
	}
	if later == 0 {
		t.Error("no job is later where others come, want some")
	}
}

func TestAhead_complains(t *testing.T) {
	snap := mixed(t, 2).until(t, "fifo", 5*time.Minute)
	o := whatif.Options{Between: -1}
	_, err := whatif.Ahead(t.Context(), snap, o)
	for _, want := range []string{"no policy", "-1ns between", "0 rounds"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %q", err, want)
		}
	}
}

func BenchmarkAhead(b *testing.B) {
	for _, name := range []string{"fifo", "sia"} {
		b.Run(fmt.Sprintf("policy=%s/jobs=100", name), func(b *testing.B) {
			r := mixed(b, 100).flat()
			r.cluster = nodes(b, 8, "rtx", "rtx", "t4", "t4", "rtx", "rtx", "t4", "t4")
			snap := r.until(b, name, 30*time.Minute)
			o := whatif.DefaultOptions(fresh(name))
			o.Scheduler = r.scheduler
			for b.Loop() {
				if _, err := whatif.Ahead(b.Context(), snap, o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(snap.Jobs)), "jobs")
		})
	}
}
