package gavel

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// An account is what is kept of a job. Slices go by GPU type.
type account struct {
	row   *policy.Job // as last read
	index int         // in this round's snapshot
	done  float64     // progress that it is believed to have made; public rules: that it reported
	seen  int         // round

	size []float64 // GPUs of its gang; 0: it cannot run there
	rate []float64 // steps per second, by what they are worth: at the efficiency of the initial batch
	pace []float64 // steps per second, whatever they are worth: throughput
	step float64   // samples of a step: those that a GPU passes over in one

	x       []float64 // fractions of the time that it is to have
	owed    []float64 // seconds that it was to have and did not
	solved  bool      // x was found
	had     []float64 // PublicCode: seconds since the fractions were found; SiaCode: since it came
	service time.Duration
	last    int     // type that it got in the last round; -1: none
	before  int     // PublicCode: the same, of the round before that
	charge  float64 // PublicCode: seconds of that round that it is charged
	fair    record
}

// newAccount returns the account of a job that comes. Half a round, in seconds,
// counts as had.
func newAccount(types int, half float64) *account {
	rows := make([]float64, 6*types)
	cut := func(n int) []float64 { return rows[n*types : (n+1)*types : (n+1)*types] }
	a := &account{service: -1, last: -1, before: -1, size: cut(0), rate: cut(1), x: cut(2), owed: cut(3), had: cut(4), pace: cut(5)}
	for t := range a.had {
		a.had[t] = half
	}
	return a
}

// read takes in a row and reports whether the job's sizes or throughputs changed. A job of
// unknown speed, or with a believed speed of 0 everywhere, is taken to be equally fast on all
// types.
func (p *Policy) read(a *account, j *policy.Job, r *grant.Round) bool {
	if a.row == j && !p.moved {
		return false
	}
	size, rate, pace := make([]float64, len(p.types)), make([]float64, len(p.types)), make([]float64, len(p.types))
	known := false
	a.step = float64(max(1, j.BatchSize))
	for t := range p.types {
		gang, ok := r.Gang(a.index, t)
		if !ok || gang.GPUs > p.free[t] {
			continue
		}
		size[t] = float64(gang.GPUs)
		if speed, step := j.Speed(gang); speed > 0 {
			if !known {
				a.step, known = step, true
			}
			rate[t], pace[t] = speed/a.step, p.pace(j, gang, a.step)
		}
	}
	for t := range p.types {
		switch {
		case !known && size[t] > 0:
			rate[t], pace[t] = 1, 1
		case rate[t] == 0:
			size[t] = 0
		}
	}
	if !p.o.Perf {
		even(rate, size)
		even(pace, size)
	}
	was := p.counts(a)
	a.row, a.rate, a.pace = j, rate, pace
	changed := !slices.Equal(a.size, size) || !slices.Equal(was, p.counts(a))
	a.size = size
	return changed
}

// pace returns the throughput of a job, in steps of so many samples per second; under SiaCode a
// step is one of all its replicas.
func (p *Policy) pace(j *policy.Job, a cluster.Allocation, step float64) float64 {
	rate, all := j.Throughput(a)
	if p.o.Rules == SiaCode {
		step = all
	}
	return rate / step
}

// even makes a job as fast on any type that it can use as on the fastest.
func even(rate, size []float64) {
	most := highest(rate)
	for t := range rate {
		if size[t] > 0 {
			rate[t] = most
		}
	}
}

// counts returns the rates of a job that the objective uses: throughputs, or, where it needs
// times, statistically efficient steps per second. Source: Gavel §4.1, §4.2.
func (p *Policy) counts(a *account) []float64 {
	if p.o.Objective == MaxMin || p.o.Objective == Sum {
		return a.pace
	}
	return a.rate
}

// left returns the steps that the job still has to do; 0 if that is not known.
func (a *account) left() float64 {
	return max(0, a.row.Target-a.done) / a.step
}

// fastest returns the highest of the job's throughputs, steps per second.
func (a *account) fastest() float64 { return highest(a.rate) }

// highest returns the highest rate, 0 where every GPU is away.
func highest(rate []float64) (most float64) {
	for _, v := range rate {
		most = max(most, v)
	}
	return most
}

// settle books what the jobs had of the last round.
func (p *Policy) settle(s *policy.Snapshot) {
	if p.o.Rules == PublicCode {
		publicRules{p}.settlePublic()
	} else {
		p.settlePaper(s)
	}
}

// settlePaper adds to what each job is owed its fraction of the time since the last round and
// takes off what it had. If gangs did not fit together, so that all had less than their
// fractions, each is owed its part of what there was. A job that ran on spare GPUs does not
// wait for that longer than a round, or a turn.
func (p *Policy) settlePaper(s *policy.Snapshot) {
	passed := 0.0
	if !p.planned.IsZero() {
		passed = max(0, s.Now.Sub(p.planned).Seconds())
	}
	span := p.span(s).Seconds()
	for t := range p.types {
		owed, had := 0.0, 0.0
		for _, a := range p.active {
			owed += a.size[t] * a.x[t] * passed
			had += a.size[t] * a.lately(t, s.Now, passed)
		}
		part := 1.0
		if had < owed {
			part = had / owed
		}
		for _, a := range p.active {
			a.owed[t] = max(-span, a.owed[t]+part*a.x[t]*passed-a.lately(t, s.Now, passed))
		}
	}
	for _, a := range p.active {
		a.service, a.last = a.row.AttainedService(s.Now), -1
	}
}

// lately returns the seconds that the job had of type t in the last round.
func (a *account) lately(t int, now time.Time, passed float64) float64 {
	if a.last != t || a.service < 0 {
		return 0
	}
	return min(passed, max(0, (a.row.AttainedService(now)-a.service).Seconds()))
}

// typeOf returns the type of what the job holds; -1: nothing.
func (p *Policy) typeOf(a *account) int {
	if !a.row.Holding() {
		return -1
	}
	return slices.Index(p.types, a.row.Allocation.GPUType)
}
