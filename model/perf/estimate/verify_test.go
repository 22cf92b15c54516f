package estimate

import (
	"testing"

	"github.com/oxgang/oxgang/model/job"
)

// verified is a job whose claims are checked, or not, and which says that every batch size
// is as good as any.
func verified(check bool) *Job {
	o := options(Bootstrap)
	o.Verify = check
	s := spec()
	s.Batch = job.BatchLimits{Init: 1, Max: 1}
	return New(s, o)
}

// at reports ten seconds on GPUs of one node in which steps took a tenth of a second, and
// progress as it is then.
func at(gpus int, progress float64) *job.Report {
	r := step(on(1, gpus, "B"), 0.1, 0)
	r.Interval, r.Progress = 10e9, progress
	return r
}

// speedup returns what n GPUs are believed to be worth.
func speedup(j *Job, n int) float64 {
	m, _ := j.Model()
	b := job.BatchSize{Local: 64}
	return m.Throughput(on(1, n, "B"), b) / m.Throughput(on(1, 1, "B"), b)
}

// A job that claims steps that its progress does not show is believed to scale less and
// less; the check sees nothing where it is off.
func TestVerify_trust_shrinks_and_heals(t *testing.T) {
	checked, unchecked := verified(true), verified(false)
	rate := 4.0 * 64 / 0.1 // samples/s, as claimed
	learn := func(progress float64) {
		checked.Learn(at(4, progress))
		unchecked.Learn(at(4, progress))
	}
	learn(0) // from here on
	full := speedup(checked, 4)
	learn(10 * rate)
	if got := speedup(checked, 4); got != full || checked.trust.lacking != 0 {
		t.Errorf("honest: speed-up %g, lacks %g, want %g, 0", got, checked.trust.lacking, full)
	}
	for i, want := range []float64{0.5, 0.75, 0.875} {
		learn(10*rate + float64(i+1)*5*rate) // half of what is claimed
		if got := checked.trust.lacking; got != want {
			t.Errorf("over-claim %d: lacks %g of trust, want %g", i+1, got, want)
		}
	}
	if got := speedup(checked, 4); got >= 0.6*full {
		t.Errorf("after three over-claims: speed-up %g, want less than 0.6 of %g", got, full)
	}
	if got := speedup(unchecked, 4); got != full {
		t.Errorf("not checked: speed-up %g, want %g", got, full)
	}
	progress := 25 * rate
	for range 200 {
		progress += 10 * rate
		learn(progress)
	}
	if got := speedup(checked, 4); got != full {
		t.Errorf("after 200 honest reports: speed-up %g, want %g", got, full)
	}
}

// What says nothing of trust changes none: profiles, a move, a report without steps.
func TestVerify_compares_only_what_compares(t *testing.T) {
	j := verified(true)
	j.Learn(at(4, 1e6))
	profile := at(1, 0)
	profile.Profile = true
	j.Learn(profile)
	j.Learn(at(2, 1e6)) // moved: nothing made in an interval that is not this one's
	none := at(2, 1e6)
	none.StepTime = 0
	j.Learn(none)
	if j.trust.lacking != 0 {
		t.Errorf("lacks %g of trust, want 0", j.trust.lacking)
	}
}

// "Useless on one node, superb on two" is lowered to what it claims of one.
func TestVerify_no_curve_is_steeper_than_linear(t *testing.T) {
	steep := func(check bool) float64 {
		j := verified(check)
		for _, r := range []*job.Report{
			step(on(1, 1, "A"), 1, 0), step(on(1, 4, "A"), 9, 8), step(on(2, 8, "A"), 1, 0),
		} {
			j.Learn(r)
		}
		m, _ := j.Model()
		b := job.BatchSize{Local: 64}
		return m.Throughput(on(2, 8, "A"), b) / m.Throughput(on(1, 4, "A"), b)
	}
	if got := steep(true); got > 2*(1+tolerance) {
		t.Errorf("twice the GPUs are believed to be %g times as fast, want at most %g", got, 2*(1+tolerance))
	}
	if got := steep(false); got < 4 {
		t.Errorf("not checked: %g times as fast, want the check to have something to do", got)
	}
}
