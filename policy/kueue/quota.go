package kueue

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/policy/grant"
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

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *memory.Codec) {
	m.Fields(&p.next)
	memory.Map(m, &p.admitted, func(a *admission, m *memory.Codec) { m.Fields(&a.flavor, &a.number) })
}

type head struct {
	job, queue int
	flavor     int
	borrows    bool
}

// cycles admits jobs until the rest has no quota. Each pass removes a job or ends a queue, so it
// ends.
func (p *Policy) cycles(r *round) {
	lines := make([][]int, len(r.queues))
	for _, i := range r.line {
		j := r.Snapshot.Jobs[i]
		if _, ok := p.admitted[j.ID]; ok {
			continue
		}
		if q := r.queue(j); q >= 0 {
			lines[q] = append(lines[q], i)
		} else {
			p.admitted[j.ID] = admission{flavor: -1, number: p.number()}
		}
	}
	for slices.ContainsFunc(lines, func(line []int) bool { return len(line) > 0 }) {
		for _, h := range r.heads(lines) {
			j := r.Snapshot.Jobs[h.job]
			if gpus := grant.Requested(j); r.available(h.queue, h.flavor) >= gpus { // enough is left in this cycle
				r.used[h.queue][h.flavor] += gpus
				p.admitted[j.ID] = admission{flavor: h.flavor, number: p.number()}
				lines[h.queue] = lines[h.queue][1:]
			}
		}
	}
}

// heads returns the first job with quota of each line, in the order of a cycle: without borrowing
// first, then by priority and submission.
func (r *round) heads(lines [][]int) []head {
	var all []head
	for q := range lines {
		if len(lines[q]) == 0 {
			continue
		}
		switch h, ok := r.fits(lines[q][0], q); {
		case ok:
			all = append(all, h)
		case r.queues[q].Strict:
			lines[q] = nil
		default:
			lines[q] = lines[q][1:]
		}
	}
	slices.SortStableFunc(all, func(a, b head) int {
		if a.borrows != b.borrows {
			return cmp.Compare(number(a.borrows), number(b.borrows))
		}
		x, y := r.Snapshot.Jobs[a.job], r.Snapshot.Jobs[b.job]
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), cmp.Compare(a.job, b.job))
	})
	return all
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r *round) fits(i, q int) (head, bool) {
	j := r.Snapshot.Jobs[i]
	for k := range r.queues[q].Flavors {
		if gpus := grant.Requested(j); r.suits(j, q, k) && r.available(q, k) >= gpus {
			return head{job: i, queue: q, flavor: k, borrows: r.borrows(q, k, gpus)}, true
		}
	}
	return head{}, false
}
