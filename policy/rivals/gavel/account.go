package gavel

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type account struct {
	row       *policy.Job
	index     int
	done      float64 // estimated, or reported under public rules
	lastRound int

	size []float64 // 0: it cannot run there
	rate []float64 // useful steps per second
	pace []float64 // steps per second
	step float64   // samples of a step: a GPU's batch

	x        []float64 // time fractions to receive
	owed     []float64 // seconds to receive, less received
	solved   bool      // x is valid
	received []float64 // seconds since the last solution (PublicCode) or submission (SiaCode)
	service  time.Duration
	last     int     // type in the last round; -1: none
	before   int     // PublicCode: in the round before
	charge   float64 // PublicCode: seconds of the last round
	fair     record
}

func newAccount(types int, half float64) *account {
	rows := make([]float64, 6*types)
	cut := func(n int) []float64 { return rows[n*types : (n+1)*types : (n+1)*types] }
	a := &account{service: -1, last: -1, before: -1, size: cut(0), rate: cut(1), x: cut(2), owed: cut(3), received: cut(4), pace: cut(5)}
	for t := range a.received {
		a.received[t] = half
	}
	return a
}

func (p *Policy) read(a *account, j *policy.Job, r *grant.Round) bool {
	if a.row == j && !p.gpusChanged {
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

func (p *Policy) pace(j *policy.Job, a cluster.Allocation, step float64) float64 {
	rate, all := j.Throughput(a)
	if p.o.Rules == SiaCode {
		step = all
	}
	return rate / step
}

func even(rate, size []float64) {
	most := highest(rate)
	for t := range rate {
		if size[t] > 0 {
			rate[t] = most
		}
	}
}

// counts returns the rates of the objective: throughputs, or useful steps per second if it needs times. Source:
// Gavel §4.1, §4.2.
func (p *Policy) counts(a *account) []float64 {
	if p.o.Objective == MaxMin || p.o.Objective == Sum {
		return a.pace
	}
	return a.rate
}

func (a *account) left() float64 {
	return max(0, a.row.Target-a.done) / a.step
}

func (a *account) fastest() float64 { return highest(a.rate) }

func highest(rate []float64) (most float64) {
	for _, v := range rate {
		most = max(most, v)
	}
	return most
}

func (p *Policy) settle(s *policy.Snapshot) {
	if p.o.Rules == PublicCode {
		publicRules{p}.settlePublic()
	} else {
		p.settlePaper(s)
	}
}

// settlePaper adds each job's fraction of the last round to its debt, and subtracts the time received. Gangs that
// did not fit together are owed their parts of the time there was. Debt is at least minus a round or turn, so that
// spare GPUs cost little later.
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
			had += a.size[t] * a.receivedLast(t, s.Now, passed)
		}
		part := 1.0
		if had < owed {
			part = had / owed
		}
		for _, a := range p.active {
			a.owed[t] = max(-span, a.owed[t]+part*a.x[t]*passed-a.receivedLast(t, s.Now, passed))
		}
	}
	for _, a := range p.active {
		a.service, a.last = a.row.AttainedService(s.Now), -1
	}
}

func (a *account) receivedLast(t int, now time.Time, passed float64) float64 {
	if a.last != t || a.service < 0 {
		return 0
	}
	return min(passed, max(0, (a.row.AttainedService(now)-a.service).Seconds()))
}

func (p *Policy) typeOf(a *account) int {
	if !a.row.Holding() {
		return -1
	}
	return slices.Index(p.types, a.row.Allocation.GPUType)
}
