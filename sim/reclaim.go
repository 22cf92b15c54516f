package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
)

// This file is how a lender asks for its nodes, and takes those that do not come back.

// A notice says that no more than limit nodes are to be lent once it is due.
type notice struct {
	due   time.Time
	limit int
}

// first returns the first notice that so many nodes lent do not meet. There is one if they
// are more than the limit: the last review left a notice of it.
func (p *pool) first(lent int) int {
	return slices.IndexFunc(p.notices, func(n notice) bool { return n.limit < lent })
}

// act does what is due: a review, and then what was to be back by now. A review that needs
// less lets what it does not need stay.
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

// review finds out how many nodes may be lent, and asks for those that are too many. The
// owner needs what it uses now, and what it will use in the next interval with the mean and
// a standard deviation of its prediction, so that it asks before it uses more. Source: Lyra
// §6, "initiate reclaiming decisions in advance before the inference resource usage
// increases".
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

// day is how far ahead an owner says what it expects to lend, and hour in what steps.
const day, hour = 24 * time.Hour, time.Hour

// foresee says what the owner expects to lend for a day ahead, and returns what it needs in
// the next interval; 0 if its forecaster cannot tell.
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
		at := (time.Duration(i+1)*l.o.Interval - 1) / every // the window that the interval ends in
		most[at] = max(most[at], share(mean[i]))
	}
	p.loan.Every, p.loan.Expected = every, make([]int, windows)
	for i, need := range most {
		p.loan.Expected[i] = cluster.Loanable(len(p.nodes), l.o.Headroom, need)
	}
	return share(mean[0] + sd[0])
}

// takeBroken takes nodes back of which too many are lent and that nobody can use.
func (l *lender) takeBroken(p *pool) {
	for _, n := range p.in(true) {
		if l.w.away[n.node.ID] > 0 && p.lent() > p.limit {
			l.back(n)
		}
	}
}

// enforce takes by force what was to be back by now, and reports whether it did.
func (l *lender) enforce(p *pool) bool {
	before := l.seized
	for len(p.notices) > 0 && !p.notices[0].due.After(l.w.now) {
		l.seize(p, p.lent()-p.notices[0].limit)
		p.notices = p.notices[1:]
	}
	return l.seized > before
}

// seize takes so many nodes: those without jobs first, then in the cluster's order. A job
// that it takes a node from leaves its others empty.
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

// evict ends the jobs on a node, which do not get to save what they have done, also those
// that are non-preemptive: by now the owner needs the node.
func (l *lender) evict(id cluster.NodeID) {
	for _, g := range l.w.on(func(other cluster.NodeID) bool { return other == id }) {
		l.w.lose(g, fmt.Sprintf("the owner of %s takes it by force", id), func(*agent) {})
	}
}
