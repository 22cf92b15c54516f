package oxgang

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/job"
)

// A job about as long as the mean of its class has a twentieth of its work left, at least, and not half of it.
func TestEstimate_from_the_class(t *testing.T) {
	for done, want := range map[float64]float64{990: 49.75, 500: 500} {
		w := newSmall(t, DefaultOptions(), 1, 1)
		w.p.classes["c"] = &ended{}
		for range 10 {
			w.p.classes["c"].add(1000)
		}
		w.submit("a", 1, 0, func(s *job.Spec) { s.Class = "c" })
		w.s.Jobs[0].Progress = done
		w.round()
		if got := w.p.jobs["a"].left; math.Abs(got-want) > 1 {
			t.Errorf("of 1000, %g done: %g left, want %g", done, got, want)
		}
	}
}
