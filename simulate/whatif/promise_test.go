package whatif

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/scheduler/calibration"
)

// TestGuess_keep: a promise is the end of a range whose end depends on new jobs and would come earlier, or is not known.
func TestGuess_keep(t *testing.T) {
	const h = time.Hour
	guess := func(early, late, by time.Duration, open bool) Guess {
		return Guess{Guess: calibration.Guess{Early: early, Late: late}, By: by, Open: open}
	}
	for name, c := range map[string]struct {
		g    Guess
		late time.Duration
	}{
		"no promise":            {guess(h, 3*h, 0, false), 4 * h},
		"earlier":               {guess(h, 3*h, 2*h, false), 4 * h},
		"earlier, open":         {guess(h, h, 2*h, true), 2 * h},
		"later, new jobs delay": {guess(h, 3*h, 9*h, false), 9 * h},
		"later, open":           {guess(h, h, 9*h, true), 9 * h},
		"later, both agree":     {guess(h, h, 9*h, false), 4 * h},
		"before the range":      {guess(h, 3*h, h/4, true), h / 4},
	} {
		r := calibration.Range{Early: h / 2, Likely: 3 * h, Late: 4 * h}
		kept := c.g.keep(&r, time.Minute)
		if r.Late != c.late || kept != (c.g.By > 0 && r.Late == c.g.By) || r.Early > r.Likely || r.Likely > r.Late {
			t.Errorf("%s: %+v, kept %v; want an end of %v", name, r, kept, c.late)
		}
	}
}

// TestFuture: a start that the simulation did not reach is unknown by its reason, unless it is promised.
func TestFuture(t *testing.T) {
	f := future{length: time.Hour, rest: TooLong}
	g := f.guess(-1, -1, time.Hour)
	if g.Why != TooLong || f.unknown(&outcome{start: -1, end: -1}) != TooLong {
		t.Errorf("%v, want %v", g.Why, TooLong)
	}
	if g = f.reserved(g, 3*time.Hour); g.Why != Known || g.Early != time.Hour || g.Late != 3*time.Hour || g.By != 3*time.Hour {
		t.Errorf("%+v, want 1h to 3h by the promise", g)
	}
}
