package whatif

import (
	"math"
	"testing"
	"time"
)

// after returns the submissions of a run that began at zero, with gaps in minutes.
func after(gaps ...int) (s submissions, last time.Time) {
	last = time.Unix(0, 0)
	s.came(last)
	for _, g := range gaps {
		last = last.Add(time.Duration(g) * time.Minute)
		s.came(last)
	}
	return s, last
}

// TestSubmissions_between: the rate falls with the time since the last submission, measured by the gaps before.
func TestSubmissions_between(t *testing.T) {
	for _, c := range []struct {
		what    string
		gaps    []int
		silence int
		want    time.Duration
	}{
		{"one submission", nil, 10, 0},
		{"all at once", []int{0, 0, 0}, 1, 0},
		{"three of four gaps were longer: 4 of 5", []int{10, 20, 30, 20}, 15, 25 * time.Minute},
		{"one was longer: 2 of 3", []int{10, 20, 30, 20}, 25, 30 * time.Minute},
		{"three times the longest: a quarter", []int{10, 20, 30, 20}, 90, 80 * time.Minute},
		{"a burst with one long gap", []int{0, 0, 40, 0}, 30, 15 * time.Minute},
	} {
		s, last := after(c.gaps...)
		if got := s.between(last.Add(time.Duration(c.silence) * time.Minute)); (got - c.want).Abs() > time.Microsecond {
			t.Errorf("%s: %v between submissions, want %v", c.what, got, c.want)
		}
	}
}

// TestSubmissions_forget: what came long ago says nothing of how long gaps are now.
func TestSubmissions_forget(t *testing.T) {
	gaps := make([]int, mostGaps+1)
	for i := range gaps {
		gaps[i] = 1
	}
	gaps[0] = 1000
	s, _ := after(gaps...)
	if got := s.goOn(3 * time.Minute); math.Abs(got-0.25) > 1e-9 || len(s.gaps) != mostGaps {
		t.Errorf("jobs go on to come with %v after %d gaps, want 0.25 after %d", got, len(s.gaps), mostGaps)
	}
}
