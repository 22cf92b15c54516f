package backfill

import (
	"slices"
	"time"
)

// A reservation belongs to the first twin in the queue that does not fit. It names the GPUs of a type that are expected
// to be free first: other twins that still run then must not lie on them.
type reservation struct {
	kind int // index of the GPU type
	at   time.Time
	left pool  // GPUs that are free then, less the GPUs of the reservation
	both *pool // GPUs that are free now and in left; nil: not computed since the last start
}

// fill starts waiting twins as EASY does. The first that does not fit gets a reservation. A twin behind it starts
// only if that does not delay the reservation: on another type, if it ends before, or on GPUs that will be left over.
// Source: Lifka 1995, §2.
func (s *Schedule) fill() {
	var head *reservation
	s.waiting = slices.DeleteFunc(s.waiting, func(t *virtualJob) bool {
		if head != nil && s.full() {
			return false
		}
		if i, at := s.fastest(t, head); i >= 0 {
			if head.delayed(s, t, &t.options[i]) {
				head.left.add(at, -1)
			}
			s.start(t, i, at)
			if head != nil {
				head.both = nil
			}
			return true
		}
		if head == nil {
			head = s.reserve(t)
		}
		return false
	})
}

func (s *Schedule) full() bool {
	return !slices.ContainsFunc(s.pools, func(p pool) bool { return p.total > 0 })
}

// fastest returns the option with the most progress on which a twin may start now, and its place; -1 if there is
// none.
func (s *Schedule) fastest(t *virtualJob, head *reservation) (best int, at []share) {
	best = -1
	for i := range t.options {
		o := &t.options[i]
		k := s.typeOf(o.GPUType)
		if k < 0 || o.GPUs > s.pools[k].total || best >= 0 && o.Rate <= t.options[best].Rate {
			continue
		}
		free := &s.pools[k]
		if head.delayed(s, t, o) {
			free = head.lasting(free)
		}
		if shares, ok := free.find(o.GPUs); ok {
			best, at = i, shares
		}
	}
	return best, at
}

// delayed reports whether a twin that starts now on an option still runs when the reservation begins, on the same type.
func (r *reservation) delayed(s *Schedule, t *virtualJob, o *Option) bool {
	return r != nil && s.typeOf(o.GPUType) == r.kind && s.now.Add(t.lasts(o)).After(r.at)
}

func (r *reservation) lasting(free *pool) *pool {
	if r.both == nil {
		r.both = free.both(&r.left)
	}
	return r.both
}

// reserve returns the reservation of a twin that does not fit, on the type on which it would end first; nil if it
// never fits.
func (s *Schedule) reserve(t *virtualJob) (best *reservation) {
	var ends time.Time
	for i := range t.options {
		o := &t.options[i]
		r := s.expect(o)
		if r == nil {
			continue
		}
		if end := r.at.Add(t.lasts(o)); best == nil || end.Before(ends) {
			best, ends = r, end
		}
	}
	return best
}

// expect returns when the GPUs of an option will be free, as running twins end; nil: never.
func (s *Schedule) expect(o *Option) *reservation {
	k := s.typeOf(o.GPUType)
	if k < 0 {
		return nil
	}
	room, at, fits := s.pools[k].clone(), s.now, false
	for _, t := range s.byEnd(k) {
		if fits && t.end().After(at) {
			break
		}
		room.add(t.at, 1) // all that end by then leave their GPUs
		at = t.end()
		fits = fits || room.fits(o.GPUs)
	}
	own, ok := room.find(o.GPUs)
	if !ok {
		return nil
	}
	room.add(own, -1)
	return &reservation{kind: k, at: at, left: room}
}

func (s *Schedule) byEnd(k int) (all []*virtualJob) {
	for _, t := range s.running {
		if t.options[t.on].GPUType == s.types[k].Type {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b *virtualJob) int { return a.end().Compare(b.end()) })
	return all
}
