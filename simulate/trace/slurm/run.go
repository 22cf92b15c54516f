package slurm

import "cmp"

// A run is one run of a job.
type run struct {
	id                      key
	submit, eligible, start uint32 // seconds since 1970; eligible is not before submit; start 0: not known
	elapsed, limit          uint32 // seconds; limit 0: not known
	priority                uint32 // 0: not known
	owner, ask, state       uint32
	line                    uint32
	place                   uint32 // in the input, from 0
	name                    string
}

// byJob orders the runs of each job by time, those alike by place.
func byJob(a, b *run) int {
	return cmp.Or(cmp.Compare(a.id.number, b.id.number), cmp.Compare(a.id.part, b.id.part), cmp.Compare(a.submit, b.submit),
		cmp.Compare(a.start, b.start), cmp.Compare(a.elapsed, b.elapsed), cmp.Compare(a.place, b.place))
}
