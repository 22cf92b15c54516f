package kueue

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/policy/grant"
)

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
