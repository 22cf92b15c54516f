package estimate

import (
	"math"
	"testing"
	"time"
)

// Jobs that come on at half the pace of what they report are believed to be half as fast,
// after an hour with a part of 1/13 of what was taken for granted.
func TestPace(t *testing.T) {
	s := newSchool(t, Bootstrap)
	id := s.submit(start, "a", 1e9)
	before := s.Stats(start)[0].Speed(0, on(1, 1, "A").Configuration)
	r := step(on(1, 2, "A"), 1, 0)
	r.Job, r.Progress = id, 1000
	s.Learn(r) // where it starts from
	each := 30 * time.Second
	for range 240 {
		r.Interval = each
		r.Progress += s.list[0].reported(r) * each.Seconds() / 2
		s.Learn(r)
	}
	r.Progress = 0 // it lost everything
	s.Learn(r)
	want := (600 + 3600.) / (600 + 7200)
	if got := s.Stats(after(1))[0].Speed(0, on(1, 1, "A").Configuration) / before; math.Abs(got-want) > 1e-5 {
		t.Errorf("speed %g of what it was, want %g", got, want)
	}
}
