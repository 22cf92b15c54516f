package simulate

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/history"
)

// Two runs of TestLive, as "go test -artifacts" left them: what they did comes out again, and the
// simulator, told what they learned, is within 10 % of the mean completion time and of the
// makespan, and in the mean over jobs. Others went otherwise: see docs/experiments/live.md.
func TestReplay_of_live_runs(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		r := replaying{journal: "../testdata/live/" + name + ".oxj", actions: true}
		v, err := history.JudgeReplay(t.Context(), r.recording(t.Context()), r.policy, r.etas)
		if err != nil {
			t.Fatal(err)
		}
		if !v.Unsealed || v.First != "" || v.Rounds < 25 || v.Actions < 10 {
			t.Errorf("%s: %d rounds, %d actions, difference %q; want all as recorded", name, v.Rounds, v.Actions, v.First)
		}
		f := v.Fidelity
		off := func(predicted, took journal.Seconds) float64 {
			return math.Abs(float64(predicted)/float64(took) - 1)
		}
		for what, wrong := range map[string]float64{
			"jobs": f.Mean, "mean completion time": off(f.PredictedJCT, f.RealJCT), "makespan": off(f.Predicted, f.Real),
		} {
			if len(f.Jobs) != 5 || !(wrong <= 0.10) {
				t.Errorf("%s: %s of %d jobs: the simulator is wrong by %.1f %%, want at most 10 %%", name, what, len(f.Jobs), 100*wrong)
			}
		}
	}
}
