package perf

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

const (
	leastSteps = 3  // measurements that each side of a pair needs
	mostPairs  = 64 // pairs per class; more are ignored
)

// A LocalityCost states how much slower jobs of a class train if they are spread over several racks.
type LocalityCost struct {
	Times float64 `json:"times"` // time of a step in several racks divided by its time in one rack
	Pairs int     `json:"pairs"` // number of compared pairs
}

// LocalityCosts are the measured costs of spreading jobs over racks, by class. They are immutable.
type LocalityCosts map[job.Class]LocalityCost

// A LocalityLearner measures how much longer the training steps of a class of jobs take if the jobs are spread over
// several racks. Its zero value is ready for use.
//
// Two groups of steps form a pair if they have the same batch size, GPUs and number of nodes, but one was in one rack
// and the other in several. The cost of a class is the exponential of the mean difference of log times over its pairs,
// weighted by the side with fewer measurements. A class that always or never ran in one rack has no known cost. Themis
// §3 and Tiresias §2 call the effect placement sensitivity.
type LocalityLearner struct {
	pairs map[job.Class][]stepPair
	costs LocalityCosts
	stale bool // costs are older than the last report
}

type stepPair struct {
	under conditions
	one   logMean
	more  logMean
}

type conditions struct {
	on    cluster.Configuration
	batch job.BatchSize
}

type logMean struct {
	log float64
	n   int
}

func (m *logMean) add(seconds float64) {
	m.n++
	m.log += (math.Log(seconds) - m.log) / float64(m.n)
}

// Learn adds report r of a job of the given class, whose nodes are in the given number of racks, 0 if unknown. Learn
// ignores reports without a step time, reports of profiling runs, and jobs on one node. All values must be finite.
func (l *LocalityLearner) Learn(class job.Class, r *job.Report, racks int) {
	if class == "" || racks < 1 || r.Profile || r.StepTime <= 0 || r.Configuration.Nodes < 2 {
		return
	}
	p := l.pair(class, conditions{r.Configuration, r.Batch})
	switch {
	case p == nil:
		return
	case racks == 1:
		p.one.add(r.StepTime.Seconds())
	default:
		p.more.add(r.StepTime.Seconds())
	}
	l.stale = l.stale || min(p.one.n, p.more.n) >= leastSteps
}

func (l *LocalityLearner) pair(of job.Class, k conditions) *stepPair {
	if l.pairs == nil {
		l.pairs = make(map[job.Class][]stepPair)
	}
	all := l.pairs[of]
	if i := slices.IndexFunc(all, func(p stepPair) bool { return p.under == k }); i >= 0 {
		return &all[i]
	}
	if len(all) == mostPairs {
		return nil
	}
	l.pairs[of] = append(all, stepPair{under: k})
	return &l.pairs[of][len(all)]
}

// Costs returns by class how much longer steps take in several racks, as measured so far; nil if nothing is measured.
func (l *LocalityLearner) Costs() LocalityCosts {
	if !l.stale {
		return l.costs
	}
	l.costs, l.stale = make(LocalityCosts), false
	for of, pairs := range l.pairs {
		if c := localityCost(pairs); c.Pairs > 0 {
			l.costs[of] = c
		}
	}
	return l.costs
}

func localityCost(pairs []stepPair) LocalityCost {
	var c LocalityCost
	sum, weight := 0.0, 0.0
	for i := range pairs {
		p := &pairs[i]
		if n := min(p.one.n, p.more.n); n >= leastSteps {
			sum, weight = sum+float64(n)*(p.more.log-p.one.log), weight+float64(n)
			c.Pairs++
		}
	}
	if c.Pairs > 0 {
		c.Times = math.Exp(sum / weight)
	}
	return c
}

// Remember lets m save or restore l.
func (l *LocalityLearner) Remember(m *memory.Codec) {
	memory.Map(m, &l.pairs, func(all *[]stepPair, m *memory.Codec) {
		memory.Slice(m, all, func(p *stepPair, m *memory.Codec) {
			m.Fields(&p.under.on, &p.under.batch, &p.one.log, &p.one.n, &p.more.log, &p.more.n)
		})
	})
	memory.Map(m, (*map[job.Class]LocalityCost)(&l.costs), func(c *LocalityCost, m *memory.Codec) { m.Fields(&c.Times, &c.Pairs) })
	m.Fields(&l.stale)
}
