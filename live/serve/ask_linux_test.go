package serve

import (
	"encoding/json"
	"strings"
	"testing"

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
