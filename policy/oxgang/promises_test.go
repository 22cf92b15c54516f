package oxgang

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/job"
)

// TestPromised: a job of all GPUs is promised its start when it is submitted, soon after it would start under EASY, and
// starts by then, although small jobs keep coming.
func TestPromised(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 2, 4)
	var by time.Time
	for n := range 120 {
		if n%15 == 0 { // two jobs of four GPUs and half an hour keep all GPUs busy
			w.submit(job.ID(fmt.Sprint("small-", n)), 4, 30*time.Minute)
		}
		if n == 35 {
			w.submit("gang", 8, 3*time.Hour)
		}
		has := w.round()
		if n == 35 {
			all := w.p.Promised(w.before)
			if by = all["gang"]; len(all) != 1 || by.IsZero() {
				t.Fatalf("promises %v, want one for the gang", all)
			}
			if minutes := by.Sub(w.before.Now).Minutes(); minutes < 20 || minutes > 40 {
				t.Errorf("promised in %v minutes, want in 25 to 35", minutes)
			}
		}
		if has["gang"] == 8 {
			if w.before.Now.After(by) {
				t.Errorf("started at %v, promised by %v", w.before.Now, by)
			}
			return
		}
	}
	t.Error("the gang did not start")
}

// TestPromised_is_kept: in random worlds with exact durations, 90 % of large jobs start by the time that they are
// promised first, as an 80 % range needs. The others wait for large jobs that are late, too.
func TestPromised_is_kept(t *testing.T) {
	if testing.Short() {
		t.Skip("plays a hundred worlds")
	}
	draws.AtLeast(t, 100)
	promised, late := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		w := newSmall(t, DefaultOptions(), 1, 8)
		by := make(map[job.ID]time.Time)
		for n := 0; n < 120 || len(w.s.Jobs) > 0; n++ {
			if n < 120 && rapid.IntRange(0, 5).Draw(rt, "comes") == 0 {
				w.submit(job.ID(fmt.Sprint(n)), rapid.IntRange(1, 8).Draw(rt, "GPUs"), time.Duration(rapid.IntRange(5, 60).Draw(rt, "minutes"))*time.Minute)
			}
			has := w.round()
			for id, at := range w.p.Promised(w.before) {
				if _, ok := by[id]; !ok && has[id] == 0 {
					by[id] = at
					promised++
				}
			}
			for id := range has {
				if at, ok := by[id]; ok && w.before.Now.After(at) {
					late++
				}
				if _, ok := by[id]; ok {
					by[id] = w.before.Now.Add(1000 * time.Hour)
				}
			}
		}
	})
	if promised < 10 || 10*late > promised {
		t.Errorf("%d of %d promises were not kept", late, promised)
	}
}

// TestPromised_nothing: there is no promise without a limit, nor while a job that cannot be stopped is in the way.
func TestPromised_nothing(t *testing.T) {
	for name, c := range map[string]struct {
		margin float64
		first  func(*job.Spec)
		want   int
	}{
		"limit":       {0.5, func(*job.Spec) {}, 1},
		"no limit":    {0, func(*job.Spec) {}, 0},
		"not stopped": {0.5, func(s *job.Spec) { s.NoCheckpoint = true }, 0},
		"priority":    {0.5, func(s *job.Spec) { s.Priority = 1 }, 0},
	} {
		o := DefaultOptions()
		o.Margin = c.margin
		w := newSmall(t, o, 1, 8)
		w.submit("first", 6, 3*time.Hour, c.first)
		w.round()
		w.submit("gang", 8, time.Hour)
		w.submit("small", 4, time.Hour)
		w.round()
		if all := w.p.Promised(w.before); len(all) != c.want {
			t.Errorf("%s: promises %v, want %d", name, all, c.want)
		}
	}
}
