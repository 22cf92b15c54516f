package kueue

import (
	"math"

	"github.com/oxgang/oxgang/internal/memory"
)

type ledger struct {
	queues []ClusterQueue
	index  map[string]int
	used   [][]int
}

func newLedger(queues []ClusterQueue) *ledger {
	l := &ledger{queues: queues, index: make(map[string]int), used: make([][]int, len(queues))}
	for i := range queues {
		l.index[queues[i].Name] = i
		l.used[i] = make([]int, len(queues[i].Flavors))
	}
	return l
}

func (f *Flavor) guaranteed() int {
	if f.Lend < 0 {
		return 0
	}
	return max(0, f.Nominal-f.Lend)
}

// available returns how many more GPUs a queue may use of a flavor; it may be negative. Each queue
// of a cohort puts its quota minus its guaranteed GPUs into a common store. Its jobs use guaranteed
// GPUs first, then the store, up to its borrowing limit. Source: KEP-79.
func (l *ledger) available(q, k int) int {
	queue := &l.queues[q]
	f, used := &queue.Flavors[k], l.used[q][k]
	if queue.Cohort == "" {
		return f.Nominal - used
	}
	own := f.guaranteed()
	store := l.store(queue.Cohort, f.Name)
	if f.Borrow >= 0 {
		store = min(store, f.Nominal-own-max(0, used-own)+f.Borrow)
	}
	return max(0, own-used) + store
}

func (l *ledger) store(cohort, flavor string) int {
	left := 0
	for q := range l.queues {
		if l.queues[q].Cohort != cohort {
			continue
		}
		for k := range l.queues[q].Flavors {
			if f := &l.queues[q].Flavors[k]; f.Name == flavor {
				left += f.Nominal - f.guaranteed() - max(0, l.used[q][k]-f.guaranteed())
			}
		}
	}
	return left
}

func (l *ledger) borrows(q, k, gpus int) bool {
	return l.used[q][k]+gpus > l.queues[q].Flavors[k].Nominal
}

func (l *ledger) most(q, k int) int {
	queue := &l.queues[q]
	f := &queue.Flavors[k]
	if queue.Cohort == "" {
		return f.Nominal
	}
	n := 0
	for o := range l.queues {
		for i := range l.queues[o].Flavors {
			if other := &l.queues[o].Flavors[i]; l.queues[o].Cohort == queue.Cohort && other.Name == f.Name {
				n += other.Nominal - other.guaranteed()
			}
		}
	}
	limit := math.MaxInt
	if f.Borrow >= 0 {
		limit = f.Nominal + f.Borrow
	}
	return min(limit, n+f.guaranteed())
}

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *memory.Codec) {
	m.Fields(&p.next)
	memory.Map(m, &p.admitted, func(a *admission, m *memory.Codec) { m.Fields(&a.flavor, &a.number) })
}
