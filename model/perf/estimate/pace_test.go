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

// What an agent says may be wrong by any factor: it does not reach others of its class.
func TestClasses_of_wild_reports(t *testing.T) {
	s := newSchool(t, Bootstrap)
	id := s.submit(start, "a", 1e6)
	r := step(on(1, 1, "A"), 1, 0)
	before := s.Stats(start)[0].Speed(0, r.Configuration)
	r.Job, r.Interval = id, 30*time.Second
	s.Learn(r)
	r.Progress = 1e300
	s.Learn(r)
	s.Reached(id, 1e9, 1e300)
	c := s.one(after(1))
	total := 0.0
	for _, size := range c.Sizes {
		total += size
	}
	if len(c.Sizes) > mostEpochs || !(total <= 1.1e6) {
		t.Errorf("%d epochs of %g samples in all, want at most %d of the target of 1e6", len(c.Sizes), total, mostEpochs)
	}
	if got := c.Speed(0, r.Configuration) / before; got > 1+mostPace*30./unpaced {
		t.Errorf("speed %g times what it was, by 30 s of 10 minutes", got)
	}
}
