package calibration

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
)

// Remember saves and restores the record (memory.Rememberer).
func (r *Record) Remember(m *memory.Codec) {
	m.Fields(&r.round)
	for p := range r.all {
		memory.Slice(m, &r.all[p], memory.To((*prediction).Remember))
	}
	if !m.Decoding() {
		return
	}
	clear(r.marks)
	for p := range r.all {
		r.open[p] = make(map[job.ID][]*prediction)
		for _, x := range r.all[p] {
			if x.state == open {
				r.open[p][x.job] = append(r.open[p][x.job], x)
			}
		}
	}
}

func (x *prediction) Remember(m *memory.Codec) {
	s := &x.stated
	m.Fields((*string)(&x.job), &x.at, &x.guess.Early, &x.guess.Late, &x.features.length, &x.features.apart, &x.took, (*uint8)(&x.state))
	m.Fields(&s.Early, &s.Likely, &s.Late, &s.Held, &s.Of)
}
