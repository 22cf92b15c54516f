package gavel

import (
	"math"

	"github.com/oxgang/oxgang/opt/barrier"
	"github.com/oxgang/oxgang/policy"
)

type record struct {
	isolated float64 // seconds until the last solution
	rate     float64 // steps per second on its share
	done     float64 // samples; PublicCode: minus remaining steps
	speed    float64 // of done per second
}

func (p *Policy) open() {
	if p.o.Objective != FTF {
		return
	}
	for _, a := range p.active {
		rate := p.isolated(a)
		done, speed := a.done, rate*a.step
		if p.o.Rules == PublicCode {
			done, speed = -a.left(), rate
		}
		f := &a.fair
		if f.speed > 0 {
			f.isolated += max(0, done-f.done) / f.speed
		}
		f.rate, f.done, f.speed = rate, done, speed
	}
}

// isolated returns a job's throughput with an equal part of every GPU type. Source: Gavel §4.2, X^isolated.
func (p *Policy) isolated(a *account) float64 {
	time, rate := 0.0, 0.0
	for t, size := range a.size {
		if size > 0 {
			part := float64(p.free[t]) / (size * float64(len(p.active)))
			time += part
			rate += part * a.rate[t]
		}
	}
	return rate / math.Max(1, time)
}

// ftf minimises the worst finish-time fairness ρ: a job's time, over its time on its part of the cluster. A job
// needs the rate left / (ρ · isolated time − age). False position finds the least feasible ρ, where the level is
// 1. Source: Gavel §4.2, "Finish Time Fairness".
func (p *Policy) ftf(s *policy.Snapshot) {
	low := p.aloneRho(s)
	high, below := math.Max(1, 2*low), -1.0
	above := p.spare(s, high)
	for ; above < 0 && high < 1e9; above = p.spare(s, high) {
		low, below, high = high, above, 2*high
	}
	for range 60 { // an end that stays counts half the next time
		if high-low <= rhoTolerance*high || above <= 0 {
			break
		}
		mid := math.Min(high-rhoTolerance*high/4, math.Max(low+rhoTolerance*high/4, (low*above-high*below)/(above-below)))
		if v := p.spare(s, mid); v >= 0 {
			high, above, below = mid, v, below/2
		} else {
			low, below, above = mid, v, above/2
		}
	}
	g, _ := p.fairProgram(s, high)
	p.take(p.level(g))
	p.outcome.objective, p.outcome.bound = high, low
	p.outcome.prices = nil // of the level, not of ρ
}

const rhoTolerance = 1e-6

func (p *Policy) aloneRho(s *policy.Snapshot) float64 {
	worst := 0.0
	for _, a := range p.active {
		if total := a.isolatedTotal(); total > 0 && a.fastest() > 0 {
			worst = math.Max(worst, (a.row.Age(s.Now).Seconds()+a.left()/a.fastest())/total)
		}
	}
	return worst
}

func (a *account) isolatedTotal() float64 {
	if a.left() == 0 || a.fair.rate == 0 {
		return 0
	}
	return a.fair.isolated + a.left()/a.fair.rate
}

func (p *Policy) spare(s *policy.Snapshot, rho float64) float64 {
	g, ok := p.fairProgram(s, rho)
	if !ok {
		return -1
	}
	out := g.Level(barrier.Settings{Mu: 1e-8})
	p.outcome.iterations += out.Iterations
	if !out.Feasible {
		return 1
	}
	return math.Min(1, out.Level-1)
}

func (p *Policy) fairProgram(s *policy.Snapshot, rho float64) (g *barrier.Program, ok bool) {
	g, ok = p.program(), true
	for i, a := range p.active {
		total := a.isolatedTotal()
		if total == 0 || a.gpus() == 0 {
			continue
		}
		time := rho*total - a.row.Age(s.Now).Seconds()
		if time <= 0 {
			ok = false
			continue
		}
		g.Items[i].Least = a.left() / time
	}
	return g, ok
}
