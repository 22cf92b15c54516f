package oxgang

import (
	"math"

	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

const (
	slackPower = 16   // of the part of the span that a job's path takes
	rhoPower   = 2    // of the finish-time fairness of a job treated unfairly
	lightest   = 1e-3 // bounds of a job's weight, before its share
	heaviest   = 1e6
)

func (p *Policy) weigh(s *policy.Snapshot, rows []*goodput.Row) {
	p.weights, p.weighted = 0, false
	p.program.Peaks(rows)
	goodput.Each(len(rows), func(i int) {
		rows[i].Leanest()
		p.active[i].rho = p.heading(s, rows[i], p.active[i])
	})
	p.collect(s.Jobs, p.active)
	span, makespan, rest := p.span(s, rows)
	if p.ignored.leaves(policy.TermEnd) {
		makespan, rest = 0, 0
	}
	for i, r := range rows {
		st := p.active[i]
		if st.rank = p.rank(r.Job(), st); p.ignored.leaves(policy.TermWork) {
			st.rank = float64(len(p.lengths)+1) / 2
		}
		if span > 0 {
			st.slack = makespan * math.Pow(min(1, st.path/span), slackPower)
		}
		w := st.rank + st.slack*float64(len(p.lengths))
		w *= math.Pow(max(1, st.rho), rhoPower)
		if st.share = share(r.Job()); p.ignored.leaves(policy.TermShare) {
			st.share = 1
		}
		st.share *= p.caps.left(r.Job().ID)
		p.weighted = p.weighted || r.Job().Weight != 0
		st.weight = min(heaviest, max(lightest, w)) * st.share
		r.Worth.Weight = st.weight
		p.weights += st.weight
	}
	p.lasting(rows, rest)
}

// share returns a job's weight as submitted. Its bounds keep one job from dwarfing all others.
func share(j *policy.Job) float64 {
	if w := j.Weight; w > 0 {
		return min(1e3, max(1e-3, w))
	}
	return 1
}

// span returns a lower bound on the seconds until all jobs end: the larger of the longest path, and all work at its
// least GPU time on all GPUs.
//
// makespan is the weight by which a percent of the makespan counts as a percent of the mean completion time:
// Options.Makespan times the mean of age and path, over the span, at most 1. rest is the span with expected
// submissions. Source of the bound: Shockwave App. G.2, Eq. 10.
func (p *Policy) span(s *policy.Snapshot, rows []*goodput.Row) (span, makespan, rest float64) {
	load, completion := 0.0, 0.0
	for i, r := range rows {
		st := p.active[i]
		st.path = 0
		peak, lean := p.program.Peak(r), r.Leanest()
		if !(peak > 0) || math.IsInf(lean, 0) {
			continue
		}
		st.path = st.left / peak
		span = max(span, st.path)
		load += st.left * lean
		p.influx.addWork(st, lean)
		completion += st.path + max(0, r.Job().Age(s.Now).Seconds())
	}
	span = max(span, load/float64(max(1, s.Cluster.GPUs())))
	if !(span > 0) || math.IsInf(span, 0) {
		return 0, 0, 0
	}
	return span, min(1, p.o.Makespan*completion/float64(len(rows))/span), p.influx.rest(span, load, s)
}

// heading returns a job's expected finish-time fairness if it has its fair share from now on: its completion time
// over that with its fair share all along, averaged over GPU types by GPUs. It is 1 if the job can run nowhere,
// nothing is known, or the term is ignored. Source: Sia §3.5.5, Eq. 3.6.
func (p *Policy) heading(s *policy.Snapshot, r *goodput.Row, st *state) float64 {
	st.contention += float64(len(s.Jobs)) * s.Now.Sub(st.upto).Seconds()
	st.upto = s.Now
	age, jobs := r.Job().Age(s.Now).Seconds(), float64(len(s.Jobs))
	if age > 0 && st.contention > 0 {
		jobs = st.contention / age
	}
	sum, gpus := 0.0, 0.0
	for k, t := range s.Cluster.Types() {
		if g := r.Share(k, perf.FairShare(t.GPUs, jobs)); g > 0 {
			alone := (st.done + st.left) / g
			sum += float64(t.GPUs) * (max(0, age) + st.left/g) / alone
			gpus += float64(t.GPUs)
		}
	}
	if rho := sum / gpus; gpus > 0 && !p.ignored.leaves(policy.TermFair) && !math.IsInf(rho, 0) && !math.IsNaN(rho) {
		return rho
	}
	return 1
}
