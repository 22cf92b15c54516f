package oxgang

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

const (
	lastWeight = 8  // of a job on which the end of all depends, per job of the plan
	lastPower  = 64 // exponent of the job's part of the remaining time
)

type influx struct {
	first, last time.Time
	quiet       float64 // longest time between two, in seconds
	jobs        int
	work        float64 // GPU seconds, of each job on its most efficient configuration
}

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

// goesOn returns the probability that more jobs will be submitted. Each of n jobs may have been the last with
// probability 1/n. Otherwise the next follows after an exponential time; its mean is the longest gap so far, because
// jobs come in bursts. So the probability falls to 0 after a quiet time of several such gaps.
func (f *influx) goesOn(now time.Time) float64 {
	if f.jobs < 2 || !(f.quiet > 0) {
		return 0
	}
	n := float64(f.jobs)
	more := (n - 1) / n * math.Exp(-max(0, now.Sub(f.last).Seconds())/f.quiet)
	return more / (more + 1/n)
}

// rest estimates the seconds until all jobs end. span and work (GPU seconds) count only active jobs; future ones are
// assumed to last as long, and to bring as much work, as those so far.
func (f *influx) rest(span, work float64, s *policy.Snapshot) float64 {
	more := f.goesOn(s.Now)
	if more == 0 {
		return span
	}
	all := (work + more*f.work) / float64(max(1, s.Cluster.GPUs()))
	return max(span, all, more*f.last.Sub(f.first).Seconds())
}

func (f *influx) addWork(st *state, lean float64) {
	if work := (st.done + st.left) * lean; !st.counted && work > 0 && !math.IsInf(work, 1) {
		st.counted = true
		f.work += work
	}
}

// lasting sets the bonus of each job for running at all because its path is all of the remaining time. It does not
// depend on the GPUs, so that two such jobs do not swap theirs.
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
