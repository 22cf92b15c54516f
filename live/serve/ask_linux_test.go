package serve

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// What would be is answered while jobs run, of which nothing is known but that they run: who waits would get GPUs sooner. A question
// about nothing, or about a job that is not there or not any more, is refused with the reason.
func TestAsk(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Slots = 1
	s := start(t, o)
	old := s.submit("old", "true")
	s.ended(old)
	busy, late := s.submit("busy", "sleep", "60"), s.submit("late", "sleep", "60")
	var a whatif.Answer
	await(t, "a round with both", func() bool {
		text, err := s.Ask(t.Context(), &control.Question{Cancel: busy})
		return err == nil && json.Unmarshal(text, &a) == nil && len(a.Jobs) == 1
	})
	if h := a.Jobs[0]; h.Job != late || h.WouldStart.Why != whatif.Known || h.WouldStart.Late > 10*o.Round || a.From.IsZero() {
		t.Errorf("%+v, want that %s would start in the next round", a, late)
	}
	if v := s.view(busy); v.HasEnded() {
		t.Errorf("a question ended %s: %+v", busy, v)
	}
	for want, q := range map[string]control.Question{
		"0 changes, want": {}, "no job": {Cancel: job.ID("nobody")}, "it has ended already": {Cancel: old}, "needs 9 GPUs": {Resize: late, GPUs: 9},
	} {
		if _, err := s.Ask(t.Context(), &q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
}

// What is answered about a job that is not submitted is what happens when it is: on an idle machine it starts at once, behind a job without
// an end it waits. Nothing is submitted by the question.
func TestTry(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Slots = 1
	s := start(t, o)
	try := func(gpus int) (a whatif.TrialAnswer) {
		text, err := s.Try(t.Context(), &job.Spec{Name: "trial", GPUs: gpus, Weight: 1})
		if err == nil {
			err = json.Unmarshal(text, &a)
		}
		if err != nil {
			t.Error(err)
		}
		return a
	}
	if a := try(1); a.Answer != whatif.StartsNow || a.GPUs != 1 {
		t.Errorf("on an idle machine: %+v, want now", a)
	}
	busy := s.submit("busy", "sleep", "60")
	await(t, "busy to run", func() bool { return s.view(busy).GPUs == 1 })
	if a := try(2); a.Answer != whatif.Never || !strings.Contains(a.Why, "needs 2 GPUs") {
		t.Errorf("more GPUs than there are: %+v, want never", a)
	}
	if a := try(1); a.Answer != whatif.Waits || a.Others != 0 {
		t.Errorf("behind a job: %+v, want that it waits", a)
	}
	if now, err := s.Status(t.Context(), true); err != nil || len(now.Jobs) != 1 {
		t.Errorf("%v, %d jobs after questions, want 1", err, len(now.Jobs))
	}
	late := s.submit("late", "sleep", "60")
	time.Sleep(3 * o.Round)
	if v := s.view(late); v.GPUs != 0 {
		t.Errorf("%+v, want that it waits, as answered", v)
	}
	if err := s.Cancel(t.Context(), busy); err != nil {
		t.Fatal(err)
	}
	s.ended(busy)
	if err := s.Cancel(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	s.ended(late)
	await(t, "an answer now, after all jobs", func() bool { return try(1).Answer == whatif.StartsNow }) // the scheduler sees an end after the view
	last := s.submit("last", "sleep", "60")
	await(t, "the last to run, as answered", func() bool { return s.view(last).GPUs == 1 })
}
