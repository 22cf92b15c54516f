package slurm

import "cmp"

type run struct {
	id                      key
	submit, eligible, start uint32 // seconds since 1970; eligible is not before submit; start 0: unknown
	elapsed, limit          uint32 // seconds; limit 0: unknown
	priority                uint32 // 0: unknown
	owner, ask, state       uint32
	line                    uint32
	name                    string
}

// runs is a list of runs in blocks: it grows without copying, and its elements stay where they are.
type runs struct {
	blocks [][]run
	count  int
}

const blockRuns = 1 << 14

func (l *runs) add(r *run) {
	if l.count%blockRuns == 0 {
		l.blocks = append(l.blocks, make([]run, 0, blockRuns))
	}
	last := &l.blocks[len(l.blocks)-1]
	*last = append(*last, *r)
	l.count++
}

func (l *runs) at(i uint32) *run { return &l.blocks[i/blockRuns][i%blockRuns] }

func byJob(a, b *run) int {
	return cmp.Or(cmp.Compare(a.id.cluster, b.id.cluster), cmp.Compare(a.id.number, b.id.number), cmp.Compare(a.id.part, b.id.part), cmp.Compare(a.submit, b.submit),
		cmp.Compare(a.start, b.start), cmp.Compare(a.elapsed, b.elapsed))
}
