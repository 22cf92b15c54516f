package oxgang

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

const (
	lastWeight = 8  // of a job for which the end of all waits, per job of the plan
	lastPower  = 64 // of how much of the rest its path takes
)

// An influx is what was submitted so far.
type influx struct {
	first, last time.Time // submissions
	quiet       float64   // longest time between two, in seconds
	jobs        int
	work        float64 // GPU seconds, each job where it takes the least
}

// submitted counts a job.
func (f *influx) submitted(at time.Time) {
	if f.jobs == 0 || at.Before(f.first) {
		f.first = at
	}
	if f.jobs == 0 {
		f.last = at
	}
	if wait := at.Sub(f.last).Seconds(); wait > 0 {
		f.quiet, f.last = max(f.quiet, wait), at
	}
	f.jobs++
}

// goesOn returns the chance that more jobs will be submitted: each of n may have been the last
// one with a chance of 1/n, and if it was not, the next one comes after a time that is
// exponential. Its mean is the longest time between two so far, because jobs come in bursts. So they are
// over once it has been quiet for some times as long as ever before.
func (f *influx) goesOn(now time.Time) float64 {
	if f.jobs < 2 || !(f.quiet > 0) {
		return 0
	}
	n := float64(f.jobs)
	more := (n - 1) / n * math.Exp(-max(0, now.Sub(f.last).Seconds())/f.quiet)
	return more / (more + 1/n)
}

// rest returns a guess of the seconds until all jobs end, those that are yet to come among them,
// given the same of those that are there and their work in GPU seconds. If jobs go on to be
// submitted, they do so for as long as they did, and as many.
func (f *influx) rest(span, work float64, s *policy.Snapshot) float64 {
	more := f.goesOn(s.Now)
	if more == 0 {
		return span
	}
	all := (work + more*f.work) / float64(max(1, s.Cluster.GPUs()))
	return max(span, all, more*f.last.Sub(f.first).Seconds())
}

// addWork counts a job's work, once, as soon as it is known.
func (f *influx) addWork(st *state, lean float64) {
	if work := (st.done + st.left) * lean; !st.counted && work > 0 && !math.IsInf(work, 1) {
		st.counted = true
		f.work += work
	}
}

// lasting sets what it counts, beside its weight, that each job runs at all because the end of
// all waits for it: its path is the rest. This has no bearing on which GPUs it has, so that two such
// jobs do not swap theirs, and none of them gets GPUs that it hardly uses.
func (p *Policy) lasting(rows []*goodput.Row, rest float64) {
	for i := range rows {
		st := p.active[i]
		if st.last = 0; !(rest > 0) || !(st.path > 0) {
			continue
		}
		urge := p.o.Makespan * lastWeight * math.Pow(min(1, st.path/rest), lastPower)
		st.last = urge * float64(len(p.lengths)) / max(1, st.rank+st.slack*float64(len(p.lengths)))
	}
}

// runs returns what that adds to the worth of a job that runs: as often what it is worth at its unit,
// wherever least of it is lost by a move or by nodes that go back.
func (p *Policy) runs(st *state, w *goodput.Worth) float64 {
	left := 1.0
	if w.Factors != nil {
		left = hopeless
		for _, f := range w.Factors {
			if f > left {
				left = f
			}
		}
	}
	return st.last * max(0, w.Base-math.Pow(left, p.o.P))
}
