package slurm

import (
	"cmp"
	"encoding/binary"
)

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

func byPlace(a, b *run) int { return cmp.Compare(a.place, b.place) }

// numbers returns what a run has beside its name.
func (r *run) numbers() [13]uint32 {
	return [...]uint32{
		r.id.number, r.id.part, r.submit, r.eligible - r.submit, r.start - r.eligible, r.elapsed, r.limit, r.priority,
		r.owner, r.ask, r.state, r.line, r.place,
	}
}

// append appends a run as its differences from the last one. Most are a byte.
func (r *run) append(b []byte, last *run) []byte {
	before := last.numbers()
	for k, v := range r.numbers() {
		b = binary.AppendVarint(b, int64(int32(v-before[k])))
	}
	b = binary.AppendUvarint(b, uint64(len(r.name)))
	return append(b, r.name...)
}

// read makes r, the last run, the next one of b, and returns what is left of b.
func (r *run) read(b []byte) []byte {
	n := r.numbers()
	for k := range n {
		d, size := binary.Varint(b)
		n[k] += uint32(int32(d))
		b = b[size:]
	}
	length, size := binary.Uvarint(b)
	b = b[size:]
	name := r.name
	if string(b[:length]) != name {
		name = string(b[:length])
	}
	*r = run{
		id: key{n[0], n[1]}, submit: n[2], eligible: n[2] + n[3], start: n[2] + n[3] + n[4], elapsed: n[5], limit: n[6], priority: n[7],
		owner: n[8], ask: n[9], state: n[10], line: n[11], place: n[12], name: name,
	}
	return b[length:]
}
