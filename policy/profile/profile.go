// Package profile computes how many GPUs of a type will be free over time as running jobs end. Backfilling
// searches it for the earliest time at which a waiting job fits.
package profile

import (
	"cmp"
	"slices"
	"time"
)

// A Profile is the number of free GPUs over time, as steps; each step holds until the next one.
type Profile []Step

// A Step states that Free GPUs are free from the time In on, counted from now. In the argument ends of New,
// Free is instead the number of GPUs that become free at In.
type Step struct {
	In   time.Duration
	Free int
}

// New returns the profile for free GPUs now and further GPUs that become free at ends.
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

// Earliest returns the earliest time, from now, from which the given number of GPUs is free for the
// duration lasts. ok is false if there is none.
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

// Take subtracts GPUs from the profile for the duration lasts, beginning at in.
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

// At returns the number of GPUs that are free at the time in, from now.
func (p Profile) At(in time.Duration) int {
	k, found := slices.BinarySearchFunc(p, in, func(s Step, in time.Duration) int { return cmp.Compare(s.In, in) })
	if !found {
		k--
	}
	return p[k].Free
}
