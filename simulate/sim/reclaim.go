package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// This file implements how a lender requests its nodes, and takes missing ones by force.

type notice struct {
	due   time.Time
	limit int
}

func (p *pool) first(lent int) int {
	return slices.IndexFunc(p.notices, func(n notice) bool { return n.limit < lent })
}

// act runs a due review, then due notices. A review that needs fewer nodes raises the limits of earlier
// notices, so that these nodes are not taken.
func (l *lender) act() {
	changed := false
	if !l.w.now.Before(l.next) {
		l.next = l.w.now.Add(l.o.Interval)
		l.at(l.next)
		for _, p := range l.pools {
			l.review(p)
		}
		changed = true
	}
	for _, p := range l.pools {
		changed = l.enforce(p) || changed
	}
	if changed {
		l.w.changed()
	}
}

// review computes how many nodes may be lent, and requests the others. The owner needs its present use or, if
// larger, the mean plus one standard deviation of the forecast for the next interval. Source: Lyra §6,
// "initiate reclaiming decisions in advance before the inference resource usage increases".
func (l *lender) review(p *pool) {
	need := l.o.busy(l.w.now.Sub(Epoch))
	p.loan.Load = need
	if p.forecast != nil {
		p.forecast.Observe(need)
		need = max(need, l.foresee(p))
	}
	p.limit = cluster.Loanable(len(p.nodes), l.o.Headroom, need)
	l.takeBroken(p)
	for i := range p.notices {
		p.notices[i].limit = max(p.notices[i].limit, p.limit)
	}
	if p.lent() > p.limit {
		due := l.w.now.Add(l.o.Grace)
		p.notices = append(p.notices, notice{due, p.limit})
		l.at(due)
	}
}

const day, hour = 24 * time.Hour, time.Hour

func (l *lender) foresee(p *pool) float64 {
	every := max(hour, l.o.Interval)
	windows := max(1, int(day/every))
	steps := int(time.Duration(windows) * every / l.o.Interval)
	mean, sd := p.forecast.Predict(steps)
	p.loan.Expected, p.loan.Every = nil, 0
	if len(mean) < steps || len(sd) < steps {
		return 0
	}
	most := make([]float64, windows)
	for i := range steps {
		at := (time.Duration(i+1)*l.o.Interval - 1) / every // the window in which the interval ends
		most[at] = max(most[at], share(mean[i]))
	}
	p.loan.Every, p.loan.Expected = every, make([]int, windows)
	for i, need := range most {
		p.loan.Expected[i] = cluster.Loanable(len(p.nodes), l.o.Headroom, need)
	}
	return share(mean[0] + sd[0])
}

func (l *lender) takeBroken(p *pool) {
	for _, n := range p.in(true) {
		if l.w.nodes.away[n.node.ID] > 0 && p.lent() > p.limit {
			l.back(n)
		}
	}
}

func (l *lender) enforce(p *pool) bool {
	before := l.seized
	for len(p.notices) > 0 && !p.notices[0].due.After(l.w.now) {
		l.seize(p, p.lent()-p.notices[0].limit)
		p.notices = p.notices[1:]
	}
	return l.seized > before
}

// seize takes lent nodes by force: nodes without jobs first, then in the cluster's order. A job that loses a
// node leaves all its nodes, so seize looks again after each.
func (l *lender) seize(p *pool, nodes int) {
	for nodes > 0 {
		used := l.w.used()
		lent := p.in(true)
		take := slices.DeleteFunc(slices.Clone(lent), func(n *loanNode) bool { return used[n.node.ID] })
		if len(take) == 0 {
			take = lent[:1]
			l.evict(lent[0].node.ID)
		}
		for _, n := range take[:min(nodes, len(take))] {
			l.back(n)
			l.seized++
			nodes--
		}
	}
}

func (l *lender) evict(id cluster.NodeID) {
	for _, g := range l.w.on(func(other cluster.NodeID) bool { return other == id }) {
		l.w.lose(g, fmt.Sprintf("the owner of %s took it back by force", id), func(*agent) {})
	}
}
