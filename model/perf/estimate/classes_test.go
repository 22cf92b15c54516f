package estimate

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func after(hours float64) time.Time {
	return start.Add(time.Duration(hours * float64(time.Hour)))
}

// A school teaches Classes, by hand.
type school struct {
	testing.TB
	*Classes
	jobs int
}

func newSchool(t testing.TB, m Mode) *school {
	s := &school{t, NewClasses(*options(m), DefaultClassOptions()), 0}
	if got := s.Stats(start); len(got) != 0 {
		t.Fatalf("before anything came: got %d classes", len(got))
	}
	return s
}

// submit lets a job of a class come, and be profiled.
func (s *school) submit(at time.Time, class job.Class, target float64) job.ID {
	s.jobs++
	spec := classed(job.ID(fmt.Sprint(s.jobs)), class)
	spec.Target, spec.RestartOverhead, spec.Adaptivity = target, time.Duration(s.jobs)*10*time.Second, job.Adaptive
	s.Submitted(at, spec)
	r := step(on(1, 1, "A"), 1, 0)
	r.Job = spec.ID
	s.Learn(r)
	return spec.ID
}

// trains lets a job train alone, to the ends of its epochs.
func (s *school) trains(id job.ID, ends ...float64) {
	for epoch, end := range ends {
		s.Reached(id, epoch, end-1)
		if epoch+1 < len(ends) {
			s.Reached(id, epoch+1, end)
		}
	}
	s.Ended(id, job.Completed)
}

func (s *school) one(now time.Time) *perf.ClassStats {
	s.Helper()
	all := s.Stats(now)
	if len(all) != 1 {
		s.Fatalf("got %d classes, want 1", len(all))
	}
	return all[0]
}

// A Poisson process is counted right within four standard deviations of what an
// exponentially forgetting window knows, 1/sqrt(2 rate Forget): before the first day is
// over, after five, and after it came four times as often: for five days, of which a week's
// window knows a part, and for four weeks.
func TestClasses_rates(t *testing.T) {
	s, stream := newSchool(t, Bootstrap), rng.Stream(1, "poisson")
	perHour, now, forget := 2.0, 0.0, s.o.Forget.Hours()
	check := func(hours, want float64) {
		for now += stream.ExpFloat64() / perHour; now < hours; now += stream.ExpFloat64() / perHour {
			s.submit(after(now), "c", 1)
		}
		now = hours
		got, known := s.one(after(hours)).Rate*3600, math.Min(hours, 2*forget)
		if math.Abs(got/want-1) > 4/math.Sqrt(want*known)+material {
			t.Errorf("after %g h: %.3f an hour, want %g", hours, got, want)
		}
	}
	check(12, 2)
	check(120, 2)
	perHour = 8
	part := math.Expm1(-120/forget) / math.Expm1(-240/forget) // of the window's weight, in the last 120 of 240 hours
	check(240, 8*part+2*(1-part))
	check(120+28*24, 8)
	s.Ended("1", job.Completed)
	if got := s.one(after(1e6)).Rate; !(got > 0 && got < 1e-9) {
		t.Errorf("after a century of nothing: %g/s, want next to nothing, but more", got)
	}
}

// A class that came this moment comes once in the burn-in.
func TestClasses_first_arrival(t *testing.T) {
	s := newSchool(t, Bootstrap)
	s.submit(start, "c", 100)
	if got := s.one(start).Rate * 3600; math.Abs(got-1) > 1e-12 {
		t.Errorf("got %g an hour, want 1", got)
	}
	if got := s.one(after(6)).Rate * 3600; math.Abs(got-1./6) > 0.04 { // faded to 0.88 in 6 h, which weigh 5.3 h
		t.Errorf("after 6 h: got %g an hour, want some 1/6", got)
	}
}

func TestClasses_sizes(t *testing.T) {
	s := newSchool(t, Bootstrap)
	first := s.submit(start, "c", 100)
	sizes := func(guessed string, want ...float64) {
		t.Helper()
		got := s.one(start)
		if diff := cmp.Diff(want, got.Sizes); diff != "" || (got.Guessed == "") != (guessed == "") {
			t.Errorf("sizes (-want +got):\n%s guessed: %q, want %q", diff, got.Guessed, guessed)
		}
	}
	sizes("of its target", 100)
	s.Reached(first, 0, 29)
	s.Reached(first, 1, 30)
	sizes("of its target, over the epochs seen", 30, 70)
	s.Reached(first, 0, 20) // its node broke
	s.Reached(first, 1, 35)
	s.Reached(first, 3, 70) // nothing was heard of epoch 2
	sizes("of its target, over the epochs seen", 30, 20, 20, 30)
	s.Ended(first, job.Completed)
	sizes("", 30, 20, 20, 30)
	s.trains(s.submit(start, "c", 50), 40, 50)
	sizes("", 35, 15, 10, 15)
	s.Ended(s.submit(start, "c", 1e9), job.Cancelled)
	sizes("", 35, 15, 10, 15)
	if got := s.one(start).Restart; got != 20*time.Second {
		t.Errorf("got a restart of %v, want the mean of 10, 20 and 30 s", got)
	}
}

// Without a target a class is as large as others, or as if half of it was done.
func TestClasses_sizes_without_target(t *testing.T) {
	s := newSchool(t, Bootstrap)
	first := s.submit(start, "c", 0)
	s.Reached(first, 0, 10)
	if got := s.one(start); got.Sizes[0] != 20 || got.Guessed == "" {
		t.Errorf("alone: got %g, guessed %q, want 20", got.Sizes[0], got.Guessed)
	}
	s.submit(start, "d", 500)
	if got := s.Stats(start); got[0].Class != "c" || got[0].Sizes[0] != 500 || got[0].Guessed == "" || got[1].Guessed == "" {
		t.Errorf("beside a class of 500: got %g, guessed %q", got[0].Sizes[0], got[0].Guessed)
	}
	s.Ended(first, job.Completed)
	if got := s.Stats(start)[0]; got.Sizes[0] != 10 || got.Guessed != "" {
		t.Errorf("ended at 10: got %g, guessed %q", got.Sizes[0], got.Guessed)
	}
}

// The pointer is another exactly if something changed that is material.
func TestClasses_material_changes(t *testing.T) {
	s := newSchool(t, Bootstrap)
	first := s.submit(start, "c", 100)
	gradient := func(epoch int, vari float64) {
		r := gradients(1, vari)
		r.Job, r.Epoch = first, epoch
		s.Learn(r)
	}
	shown := s.one(start)
	for _, c := range []struct {
		name string
		do   func()
		at   time.Time
		want bool // another pointer
	}{
		{"nothing", func() {}, start, false},
		{"a moment", func() {}, start.Add(time.Minute), false},
		{"an hour", func() {}, after(1), true},
		{"gradients of an epoch seen first", func() { gradient(0, 1) }, after(1), true},
		{"hardly other gradients", func() { gradient(0, 1.05) }, after(1), false},
		{"other gradients", func() { gradient(0, 2) }, after(1), true},
		{"gradients of another epoch seen first", func() { gradient(5, 1.35) }, after(1), true},
		{"the same speed again", func() { r := step(on(1, 1, "A"), 1, 0); r.Job = first; s.Learn(r) }, after(1), false},
		{"a configuration seen first", func() { r := step(on(1, 2, "A"), 1.28, 0.28); r.Job = first; s.Learn(r) }, after(1), true},
		{"hardly another speed", func() { r := step(on(1, 2, "A"), 1.3, 0.28); r.Job = first; s.Learn(r) }, after(1), false},
		{"another speed", func() { r := step(on(1, 2, "A"), 1.7, 0.28); r.Job = first; s.Learn(r) }, after(1), true},
		{"hardly another speed than that", func() { r := step(on(1, 2, "A"), 1.5, 0.28); r.Job = first; s.Learn(r) }, after(1), false},
		{"progress", func() { s.Reached(first, 0, 20) }, after(1), false},
		{"an epoch", func() { s.Reached(first, 1, 30) }, after(1), true},
		{"its end, as was guessed", func() { s.Ended(first, job.Completed) }, after(1), true},
	} {
		c.do()
		now := s.one(c.at)
		if (now != shown) != c.want {
			t.Errorf("%s: another pointer: %v, want %v", c.name, now != shown, c.want)
		}
		shown = now
	}
}

// Speed is the goodput of the fitted model, bootstrapped over types, with the noise of
// the epoch; and that of shown stats does not change.
func TestClasses_speed(t *testing.T) {
	s := newSchool(t, Bootstrap)
	first := s.submit(start, "c", 100)
	for _, r := range []*job.Report{step(on(1, 1, "B"), 0.5, 0), step(on(1, 2, "A"), 1.28, 0.28)} {
		r.Job = first
		s.Learn(r)
	}
	for epoch, vari := range []float64{1, 100} {
		r := gradients(1, vari)
		r.Job, r.Epoch = first, epoch
		s.Learn(r)
	}
	s.trains(first, 10, 20, 30)
	stats := s.one(start)
	speeds := func() (all []float64) {
		for epoch := range 3 {
			for _, gpus := range []int{1, 2, 8} {
				all = append(all, stats.Speed(epoch, on((gpus+7)/8, gpus, "B").Configuration))
			}
		}
		return all
	}
	before := speeds()
	j := NewPool(sharing(Bootstrap)).New(classed("x", "c"))
	for _, r := range append(profiles, step(on(1, 2, "A"), 1.28, 0.28), gradients(1, 100)) {
		j.Learn(r)
	}
	m, limits := j.Model()
	want, _ := perf.BestBatch(m, on(1, 8, "B"), 8, limits)
	if got := before[5]; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("8 B in epoch 1: got %g, want %g", got, want)
	}
	if !(before[2] < before[5]) || before[5] != before[8] {
		t.Errorf("8 B in epochs 0, 1, 2: got %g, %g, %g, want slower with less noise, and what was not seen as the nearest", before[2], before[5], before[8])
	}
	slow := step(on(1, 2, "B"), 9, 3)
	slow.Job = s.submit(start, "c", 100)
	s.Learn(slow)
	if s.one(start) == stats {
		t.Fatal("got the same pointer after another speed")
	}
	if diff := cmp.Diff(before, speeds()); diff != "" {
		t.Errorf("speeds of stats shown before (-before +after):\n%s", diff)
	}
}

func TestClasses_speed_of_jobs_that_adapt_less(t *testing.T) {
	for name, c := range map[string]struct {
		spec func(*job.Spec)
		want []float64 // on 1, 2 and 4 GPUs
	}{
		"rigid":                 {func(s *job.Spec) { s.Adaptivity, s.GPUs, s.BatchSize = job.Rigid, 2, 128 }, []float64{0, 128, 0}},
		"of fixed batch size":   {func(s *job.Spec) { s.Adaptivity, s.BatchSize = job.StrongScaling, 256 }, []float64{64, 128, 256}},
		"of two GPUs a replica": {func(s *job.Spec) { s.GPUsPerReplica = map[cluster.GPUType]int{"A": 2} }, []float64{0, 64, 128}},
		"of at most two GPUs":   {func(s *job.Spec) { s.MaxGPUs = 2 }, []float64{64, 128, 0}},
		"of another type":       {func(s *job.Spec) { s.GPUTypes = []cluster.GPUType{"B"} }, []float64{0, 0, 0}},
	} {
		s := newSchool(t, Bootstrap)
		spec := classed("1", "c")
		spec.Adaptivity, spec.Target, spec.Batch.Init = job.StrongScaling, 100, 1024 // no batch size is less efficient
		spec.BatchSize, spec.Schedule.Mode = 64, job.Static
		c.spec(spec)
		s.Submitted(start, spec)
		r := step(on(1, spec.ReplicaGPUs("A"), "A"), 1, 0)
		r.Job = "1"
		s.Learn(r)
		r = step(on(1, spec.ReplicaGPUs("A"), "A"), 0.5, 0)
		r.Job, r.Batch.Local = "1", 32
		s.Learn(r)
		for i, gpus := range []int{1, 2, 4} {
			if got := s.one(start).Speed(0, on(1, gpus, "A").Configuration); math.Abs(got-c.want[i]) > 0.02*c.want[i] {
				t.Errorf("%s: %d GPUs: got %g samples/s, want %g", name, gpus, got, c.want[i])
			}
		}
	}
}

// What some job of the class may be given has a speed.
func TestClasses_speed_of_several_forms(t *testing.T) {
	s := newSchool(t, Bootstrap)
	rigid := func(id job.ID, gpus int) {
		spec := classed(id, "c")
		spec.Adaptivity, spec.GPUs, spec.BatchSize = job.Rigid, gpus, 64*gpus
		s.Submitted(start, spec)
		r := step(on(1, 1, "A"), 1, 0)
		r.Job = id
		s.Learn(r)
	}
	for i := range 30 { // so many that one more changes no rate materially
		rigid(job.ID(fmt.Sprint("two ", i)), 2)
	}
	before := s.one(start)
	rigid("four", 4)
	after := s.one(start)
	for gpus, want := range []bool{1: false, 2: true, 3: false, 4: true} {
		if got := after.Speed(0, on(1, gpus, "A").Configuration) > 0; got != want {
			t.Errorf("%d GPUs: has a speed: %v, want %v", gpus, got, want)
		}
	}
	if before.Speed(0, on(1, 4, "A").Configuration) != 0 {
		t.Error("4 GPUs, before a job asked for them: want none")
	}
}

func TestClasses_of_no_class_or_speed(t *testing.T) {
	s := newSchool(t, Bootstrap)
	s.submit(start, "", 100)
	s.Submitted(start, classed("x", "c")) // nothing is measured of it
	s.Learn(&job.Report{Job: "who?", GradSqr: 1})
	s.Reached("who?", 1, 1)
	s.Ended("who?", job.Completed)
	if got := s.Stats(start); len(got) != 0 {
		t.Errorf("got %d classes, want none", len(got))
	}
	var none *Classes
	none.Submitted(start, classed("x", "c"))
	none.Reached("x", 1, 1)
	if got := none.Stats(start); got != nil {
		t.Errorf("nil: got %v", got)
	}
}

func TestClassOptions_validate(t *testing.T) {
	o := ClassOptions{BurnIn: -1}
	want := "classes: burn-in -1ns, want more than 0\nclasses: forgetting time 0s, want more than 0"
	if err := o.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
