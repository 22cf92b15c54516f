package whatif_test

import (
	"bytes"
	"testing"

	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// TestReliable: predictions that were exact are told apart. Where jobs have constant speeds and wait in order nearly all are;
// where speeds are learned, some are, and ranges of the others hold or not.
func TestReliable(t *testing.T) {
	if testing.Short() {
		t.Skip("predicts in thousands of rounds")
	}
	for load, of := range map[string]struct {
		rounds int // of the run, about
		all    bool
	}{"constant": {20_000, true}, "rigid": {3000, false}} {
		run, o := recorded(t, "fifo", loads[load].settings, 5)
		r, err := journal.NewReader(bytes.NewReader(run))
		if err != nil {
			t.Fatal(err)
		}
		found, err := whatif.Reliable(t.Context(), r, of.rounds, o)
		if err != nil {
			t.Fatal(err)
		}
		for p, x := range found {
			held := x.Held[1]
			if x.Ranges < 20 || of.all != (x.Exact > 0.95) || x.Exact == 0 {
				t.Errorf("%s, %v: %.2f of %d predictions exact", load, calibration.Phase(p), x.Exact, x.Ranges)
			}
			if others := x.Rest * (1 - x.Exact); held < others-1e-9 || held > x.Exact+others+1e-9 {
				t.Errorf("%s, %v: %.3f held, %.3f are exact, and of the rest %.3f held", load, calibration.Phase(p), held, x.Exact, x.Rest)
			}
		}
	}
}
