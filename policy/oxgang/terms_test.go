package oxgang

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// The terms of the last plan make its weight.
func TestWeighed(t *testing.T) {
	w := newSmall(t, DefaultOptions(), 1, 2)
	w.submit("long", 1, 10*time.Hour, func(s *job.Spec) { s.Weight = 2 })
	w.submit("short", 1, time.Hour)
	w.submit("waits", 2, 20*time.Hour)
	for range 3 {
		w.round()
	}
	sum := 0.0
	for _, id := range []job.ID{"long", "short", "waits"} {
		x, ok := w.p.Weighed(id)
		if want := (x.Rank + x.Slack*float64(x.Jobs)) * math.Pow(max(1, x.Rho), rhoPower) * x.Share; !ok || x.Jobs != 3 || math.Abs(x.Weight-want) > 1e-9*want {
			t.Errorf("%s: %+v, want weight %g", id, x, want)
		}
		sum += x.Weight
		if holds := id != "waits"; holds != (x.Restart == 30) || holds != (math.Abs(x.Move-0.9*900/930) < 1e-9) {
			t.Errorf("%s: %+v, want the restart of those that hold GPUs", id, x)
		}
	}
	if x, _ := w.p.Weighed("long"); x.Share != 2 || math.Abs(x.Mean-sum/3) > 1e-9 {
		t.Errorf("%+v: want a share of 2 and a mean of %g", x, sum/3)
	}
	own := newSmall(t, DefaultOptions(), 1, 1)
	own.submit("unsaved", 1, 10*time.Hour, func(s *job.Spec) { s.NoCheckpoint = true })
	for range 9 {
		own.round()
	}
	if x, _ := own.p.Weighed("unsaved"); x.Redone <= 0 || math.Abs(x.Restart-30-redone*x.Redone) > 1e-9 {
		t.Errorf("%+v: want a restart, and the work that is done twice", x)
	}
	if _, ok := w.p.Weighed("nobody"); ok {
		t.Error("a job that is not there was weighed")
	}
}
