package slurm

import "cmp"

type run struct {
	id                      key
	submit, eligible, start uint32 // seconds since 1970; eligible is not before submit; start 0: unknown
	elapsed, limit          uint32 // seconds; limit 0: unknown
	priority                uint32 // 0: unknown
	owner, ask, state       uint32
	line                    uint32
	place                   uint32 // in the input, from 0
	name                    string
}

func byJob(a, b *run) int {
	return cmp.Or(cmp.Compare(a.id.number, b.id.number), cmp.Compare(a.id.part, b.id.part), cmp.Compare(a.submit, b.submit),
		cmp.Compare(a.start, b.start), cmp.Compare(a.elapsed, b.elapsed), cmp.Compare(a.place, b.place))
}
