package oxgang

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// What a job states is believed to the letter, as long as statements were true.
func TestBelieved_true_so_far(t *testing.T) {
	p := &Policy{classes: map[job.Class]*ended{}}
	for range 5 {
		p.stated.add((&state{stated: 100, done: 95, soon: 6}).wrong())
	}
	if got := p.believed(&state{stated: 100, done: 30}, 70); got != 70 {
		t.Errorf("left %g, want 70", got)
	}
}

// A job that outlives what it stated has no longer the least left, but more and more.
func TestPlan_outlived(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	w.submit("liar", 1, time.Hour, func(s *job.Spec) { s.Target = 10 })
	w.submit("honest", 1, time.Hour)
	w.s.Jobs[0].Progress, w.s.Jobs[0].Reported = 10*1800, w.s.Now
	w.s.Jobs[0].Target = 10
	plan, err := w.p.Plan(t.Context(), w.s)
	if err != nil {
		t.Fatal(err)
	}
	if left := w.p.jobs["liar"].left; plan.Jobs[1].Allocation.IsZero() || left < 10*1800 {
		t.Errorf("the liar has %g left, want as much as it made, and the honest one to run", left)
	}
}

// Where statements were wrong by far, the class counts beside what a job states.
func TestBelieved_shrinks(t *testing.T) {
	p := &Policy{classes: map[job.Class]*ended{"a": {}}}
	for i := range 20 {
		wrong := []float64{-1.5, 1.5}[i%2]
		p.classes["a"].stated.add(wrong)
		p.stated.add(wrong)
		p.classes["a"].add(1000 * math.Exp(wrong/5))
	}
	tiny, huge := &state{class: "a", stated: 10}, &state{class: "a", stated: 1e5}
	if got := p.believed(tiny, 10); got < 300 || got > 1500 {
		t.Errorf("who states 10 is believed to have %g left, want about what others had, 1000", got)
	}
	if got := p.believed(huge, 1e5); got < 700 || got > 8000 {
		t.Errorf("who states 1e5 is believed to have %g left, want about what others had, 1000", got)
	}
	if small, large := p.believed(tiny, 10), p.believed(huge, 1e5); small >= large {
		t.Errorf("%g and %g left: want what they state to count", small, large)
	}
	if elsewhere := p.believed(&state{class: "b", stated: 10}, 10); elsewhere < 11 || elsewhere > 100 {
		t.Errorf("in a class of which nothing is known %g left, want somewhat more than 10", elsewhere)
	}
}

// wrong is 0 if a job ended between two rounds where it said.
func TestWrong(t *testing.T) {
	for _, test := range []struct{ stated, done, soon, want float64 }{
		{100, 95, 10, 0}, {100, 100, 10, 0}, {100, 200, 10, math.Log(2)}, {100, 40, 10, math.Log(0.5)},
	} {
		if got := (&state{stated: test.stated, done: test.done, soon: test.soon}).wrong(); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%+v: %g", test, got)
		}
	}
}

// excess is the mean of a truncated distribution, found here by adding up; far out it joins its limit.
func TestExcess(t *testing.T) {
	for _, d := range []float64{0, 0.1, 1, 5, 50} {
		mass, sum := 0.0, 0.0
		for z := -8.0; z < 8; z += 1e-4 {
			if x := math.Exp(0.5 + 0.8*z); x > d {
				w := math.Exp(-z * z / 2)
				mass, sum = mass+w, sum+w*(x-d)
			}
		}
		if got := excess(0.5, 0.8, d); math.Abs(got-sum/mass) > 1e-2*got {
			t.Errorf("d %g: %g, want %g", d, got, sum/mass)
		}
	}
	near, far := excess(0, 1, math.Exp(5.999)), excess(0, 1, math.Exp(6.001))
	if math.Abs(near-far) > 0.15*near {
		t.Errorf("%g and %g on two sides of the limit", near, far)
	}
	if got := excess(0, 0.01, 1e300); !(got > 0) || math.IsInf(got, 0) {
		t.Errorf("%g far beyond", got)
	}
}

// Jobs that are gone count alike in any order.
func TestTrack_order(t *testing.T) {
	a, b := &track{}, &track{}
	x, y := &ended{}, &ended{}
	for i := range 50 {
		a.add(math.Sqrt(float64(i)) / 7)
		b.add(math.Sqrt(float64(49-i)) / 7)
		x.add(math.Exp(math.Sqrt(float64(i))))
		y.add(math.Exp(math.Sqrt(float64(49 - i))))
	}
	if *a != *b || *x != *y {
		t.Error(fmt.Sprintln(a, b, x, y))
	}
}
