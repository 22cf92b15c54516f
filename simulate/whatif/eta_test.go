package whatif

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/scheduler/calibration"
)

// TestExpected_end: the end of a job whose start is unreliable is not printed as a range until estimates of the end were right.
func TestExpected_end(t *testing.T) {
	of := func(held, of int, p calibration.Phase) Range {
		return Range{Range: calibration.Range{Early: time.Minute, Late: time.Hour, Held: held, Of: of, Phase: p}}
	}
	unknown := Range{Why: TooLong}
	for _, c := range []struct {
		eta  ETA
		want string
	}{
		{ETA{Start: of(7, 15, calibration.Start), End: of(0, 0, calibration.WaitingEnd)}, "unreliable: it depends on the start"},
		{ETA{Start: of(7, 15, calibration.Start), End: of(9, 10, calibration.WaitingEnd)}, ""},
		{ETA{Start: of(14, 15, calibration.Start), End: of(0, 0, calibration.WaitingEnd)}, ""},
		{ETA{Start: of(14, 15, calibration.Start), End: of(1, 10, calibration.WaitingEnd)}, "unreliable: only 1 of the last 10 estimates was right"},
		{ETA{End: of(0, 0, calibration.RunningEnd)}, ""},
		{ETA{Start: of(7, 15, calibration.Start), End: unknown}, TooLong.String()},
	} {
		if _, end := c.eta.Expected(0); end.Unknown != c.want {
			t.Errorf("%+v: got %q, want %q", c.eta, end.Unknown, c.want)
		}
	}
}
