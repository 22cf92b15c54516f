package oxgang

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// Among alike jobs of guessed length the one that had a little less does not pass all others, and one that had much
// less does.
func TestExpect(t *testing.T) {
	l := &spectrum{lengths: []float64{3500, 3600, 3600, 3600, 3600, 3600, 3600, 3700}}
	if x, y := l.expect(3500), l.expect(3700); x > 1.06*y || math.Abs(x-4.5) > 0.3 {
		t.Errorf("the shortest counts %g, the longest %g, want about 4.5 both", x, y)
	}
	l = &spectrum{lengths: []float64{60, 6000, 6000, 600000}}
	for length, want := range map[float64]float64{60: 4, 6000: 2.5, 600000: 1} {
		if got := l.expect(length); math.Abs(got-want) > 0.05 {
			t.Errorf("length %g counts %g, want %g", length, got, want)
		}
	}
	for _, length := range []float64{0, math.SmallestNonzeroFloat64, 1e300, math.Inf(1)} {
		if got := l.expect(length); !(got >= 1 && got <= 5) {
			t.Errorf("length %g counts %g", length, got)
		}
	}
}

// Who states nothing is ranked by chance; who states his work, by that.
func TestMeasure_guessed(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 1)
	w.submit("stated", 1, time.Hour)
	w.submit("not", 1, 0)
	w.submit("alike", 1, 0, func(s *job.Spec) { s.GPUs = 1 })
	w.round()
	if w.p.jobs["stated"].guessed || !w.p.jobs["not"].guessed {
		t.Errorf("%+v, %+v", w.p.jobs["stated"], w.p.jobs["not"])
	}
	adaptive := *w.s.Jobs[1].Spec
	adaptive.Adaptivity = job.Adaptive
	row := *w.s.Jobs[1]
	row.Spec = &adaptive
	if got := w.p.rank(&row, w.p.jobs["not"]); got == math.Trunc(got) {
		t.Errorf("rank %g, want chances", got)
	}
}
