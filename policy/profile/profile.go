// Package profile counts the GPUs of a type that will be free, as running jobs end. Backfilling looks in it for the first
// time at which a waiting job fits.
package profile

import (
	"cmp"
	"slices"
	"time"
)

// A Profile is the free GPUs over time: a step holds until the next one.
type Profile []Step

// A Step is a number of GPUs from a time on, counted from now. In the argument of New, Free is the GPUs that become
// free at In.
type Step struct {
	In   time.Duration
	Free int
}

// New returns the profile of free GPUs from those that are free now and those that become free at ends.
func New(free int, ends []Step) Profile {
	slices.SortStableFunc(ends, func(a, b Step) int { return cmp.Compare(a.In, b.In) })
	p := Profile{{0, free}}
	for _, e := range ends {
		free += e.Free
		if last := &p[len(p)-1]; last.In == e.In {
			last.Free = free
			continue
		}
		p = append(p, Step{e.In, free})
	}
	return p
}

// Earliest returns the first time at which enough GPUs are free for long enough; false: never.
func (p Profile) Earliest(gpus int, lasts time.Duration) (in time.Duration, ok bool) {
	from := -1
	for k, s := range p {
		switch {
		case from >= 0 && s.In >= p[from].In+lasts:
			return p[from].In, true
		case s.Free < gpus:
			from = -1
		case from < 0:
			from = k
		}
	}
	if from < 0 {
		return 0, false
	}
	return p[from].In, true
}

// Take uses GPUs from a time on for so long.
func (p *Profile) Take(gpus int, in, lasts time.Duration) {
	first, last := p.cut(in), p.cut(in+lasts)
	for k := first; k < last; k++ {
		(*p)[k].Free -= gpus
	}
}

func (p *Profile) cut(in time.Duration) int {
	k, found := slices.BinarySearchFunc(*p, in, func(s Step, in time.Duration) int { return cmp.Compare(s.In, in) })
	if !found {
		*p = slices.Insert(*p, k, Step{in, (*p)[k-1].Free})
	}
	return k
}

// At returns the GPUs that are free at a time.
func (p Profile) At(in time.Duration) int {
	k, found := slices.BinarySearchFunc(p, in, func(s Step, in time.Duration) int { return cmp.Compare(s.In, in) })
	if !found {
		k--
	}
	return p[k].Free
}
