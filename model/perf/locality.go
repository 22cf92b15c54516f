// Package locality learns how much longer the steps of a class of jobs take where their nodes are in several racks
// than where one rack has them all.
//
// Method. Steps of the same batch size on the same number of GPUs of a type, on as many nodes, are a pair, once some were
// measured in one rack and some in several. The logarithms of both times are averaged. The cost of a class is the
// exponential of the mean of their differences over its pairs, each weighted by the measurements of the side that has
// fewer. Nothing is assumed of how exchanges of gradients scale, so a class that always ran in one rack, or never, has
// no cost: it is not known. The same is known of users' experience as placement sensitivity (Themis §3, Tiresias §2).
//
// Measurements of jobs that run on slow nodes, or beside others, are not told apart from this; the more pairs, the less
// they count.
package locality

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

const (
	least = 3  // measurements of each side, before a pair counts
	most  = 64 // pairs of a class that are kept; more are not looked at
)

// A Cost is what is known of a class.
type Cost struct {
	Times float64 `json:"times"` // a step in several racks over one in a single rack; below 1 if it was measured to be faster
	Pairs int     `json:"pairs"` // that were compared
}

// Costs are those of all classes of which one is known. They are immutable.
type Costs map[job.Class]Cost

// A Learner learns the costs of classes. The zero value has learned nothing. It is not safe for concurrent use.
type Learner struct {
	pairs map[job.Class][]pair
	costs Costs
	stale bool // costs are of before the last report
}

// A pair is steps under the same conditions, in one rack and in several.
type pair struct {
	under conditions
	one   mean
	more  mean
}

// Conditions are all that two steps must have in common to be compared.
type conditions struct {
	on    cluster.Configuration
	batch job.BatchSize
}

// A mean is that of logarithms of seconds.
type mean struct {
	log float64
	n   int
}

func (m *mean) add(seconds float64) {
	m.n++
	m.log += (math.Log(seconds) - m.log) / float64(m.n)
}

// Learn records a report of a job of a class that trains on nodes in so many racks; 0: not known. Reports
// without a time, of profiling and of jobs on one node say nothing. The caller must have checked that all values are finite.
func (l *Learner) Learn(of job.Class, r *job.Report, racks int) {
	if of == "" || racks < 1 || r.Profile || r.StepTime <= 0 || r.Configuration.Nodes < 2 {
		return
	}
	p := l.pair(of, conditions{r.Configuration, r.Batch})
	switch {
	case p == nil:
		return
	case racks == 1:
		p.one.add(r.StepTime.Seconds())
	default:
		p.more.add(r.StepTime.Seconds())
	}
	l.stale = l.stale || min(p.one.n, p.more.n) >= least
}

// pair returns that of a class and conditions; nil: the class has too many.
func (l *Learner) pair(of job.Class, k conditions) *pair {
	if l.pairs == nil {
		l.pairs = make(map[job.Class][]pair)
	}
	all := l.pairs[of]
	if i := slices.IndexFunc(all, func(p pair) bool { return p.under == k }); i >= 0 {
		return &all[i]
	}
	if len(all) == most {
		return nil
	}
	l.pairs[of] = append(all, pair{under: k})
	return &l.pairs[of][len(all)]
}

// Costs returns what is known; nil: nothing.
func (l *Learner) Costs() Costs {
	if !l.stale {
		return l.costs
	}
	l.costs, l.stale = make(Costs), false
	for of, pairs := range l.pairs {
		if c := cost(pairs); c.Pairs > 0 {
			l.costs[of] = c
		}
	}
	return l.costs
}

// cost returns that of the pairs that count.
func cost(pairs []pair) Cost {
	var c Cost
	sum, weight := 0.0, 0.0
	for i := range pairs {
		p := &pairs[i]
		if n := min(p.one.n, p.more.n); n >= least {
			sum, weight = sum+float64(n)*(p.more.log-p.one.log), weight+float64(n)
			c.Pairs++
		}
	}
	if c.Pairs > 0 {
		c.Times = math.Exp(sum / weight)
	}
	return c
}
