package queue

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestProfile: worked examples on 4 GPUs, of which 2 are free and one more after 1 and 3 hours each.
func TestProfile(t *testing.T) {
	fresh := func() profile { return newProfile(2, []step{{3 * time.Hour, 1}, {time.Hour, 1}}) }
	for name, tc := range map[string]struct {
		gpus  int
		lasts time.Duration
		want  time.Duration
		never bool
	}{
		"at once":          {2, 100 * time.Hour, 0, false},
		"after the first":  {3, time.Hour, time.Hour, false},
		"after both":       {4, time.Hour, 3 * time.Hour, false},
		"more than are":    {5, time.Hour, 0, true},
		"for no time, now": {1, 0, 0, false},
	} {
		if in, ok := fresh().earliest(tc.gpus, tc.lasts); in != tc.want || ok == tc.never {
			t.Errorf("%s: %v, %v, want %v", name, in, ok, tc.want)
		}
	}
	p := fresh()
	p.take(3, time.Hour, time.Hour) // the first reservation: 2 GPUs until then, none until hour 2, 3 and then 4 after
	for _, tc := range []struct {
		gpus  int
		lasts time.Duration
		want  time.Duration
	}{{2, time.Hour, 0}, {2, time.Hour + 1, 2 * time.Hour}, {1, 2 * time.Hour, 2 * time.Hour}, {4, time.Hour, 3 * time.Hour}} {
		if in, ok := p.earliest(tc.gpus, tc.lasts); in != tc.want || !ok {
			t.Errorf("%d GPUs for %v: %v, %v, want %v", tc.gpus, tc.lasts, in, ok, tc.want)
		}
	}
}

// TestProfile_is_never_overdrawn: jobs that are placed where they fit first leave no time at which fewer than
// no GPUs are free, and none fits a second earlier.
func TestProfile_is_never_overdrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ends []step
		for range rapid.IntRange(0, 5).Draw(t, "running") {
			ends = append(ends, step{time.Duration(rapid.IntRange(1, 20).Draw(t, "in")) * time.Second, rapid.IntRange(1, 4).Draw(t, "held")})
		}
		p := newProfile(rapid.IntRange(0, 4).Draw(t, "free"), ends)
		for range 8 {
			gpus, lasts := rapid.IntRange(1, 8).Draw(t, "GPUs"), time.Duration(rapid.IntRange(1, 20).Draw(t, "lasts"))*time.Second
			in, ok := p.earliest(gpus, lasts)
			if !ok {
				continue
			}
			if in > 0 && p.fits(gpus, in-time.Second, lasts) {
				t.Fatalf("%d GPUs for %v: %v, and a second earlier would do: %v", gpus, lasts, in, p)
			}
			p.take(gpus, in, lasts)
			for _, s := range p {
				if s.free < 0 {
					t.Fatalf("%d GPUs for %v from %v: %v", gpus, lasts, in, p)
				}
			}
		}
	})
}

// fits reports whether so many GPUs are free from a time on for so long, the slow way.
func (p profile) fits(gpus int, in, lasts time.Duration) bool {
	for k, s := range p {
		ends := k+1 < len(p) && p[k+1].in <= in
		if s.free < gpus && s.in < in+lasts && !ends {
			return false
		}
	}
	return true
}
