package manager

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// Predictions become times in whole seconds; what is not known is left out.
func TestExpected(t *testing.T) {
	from := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := whatif.Range{Why: whatif.Known, Range: calibration.Range{Early: time.Minute, Late: 2*time.Minute + time.Millisecond}}
	unknown := whatif.Range{Why: whatif.Known + 1}
	all := expected(map[job.ID]driver.Prediction{
		"runs":  {ETA: whatif.ETA{Start: later, End: unknown}, From: from},
		"never": {ETA: whatif.ETA{Start: unknown, End: unknown}, From: from},
		"waits": {Unblock: "it would get a GPU"},
	})
	if e := all["runs"].ETA; e == nil || !e.Start.Earliest.Time.Equal(from.Add(time.Minute)) || !e.Start.Latest.Time.Equal(from.Add(2*time.Minute)) || e.End != nil {
		t.Errorf("runs: %+v, want a start after one to two minutes, and no end", e)
	}
	if all["never"].ETA != nil || all["waits"].ETA != nil || all["waits"].Unblock == "" {
		t.Errorf("got %+v, want no times of never and waits, and what would help waits", all)
	}
	if expected(nil) != nil {
		t.Error("something is expected before the first look")
	}
}
