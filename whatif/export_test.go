package whatif

import (
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/whatif/calibration"
)

// Whys returns every reason of the closed list.
func Whys() []Why { return []Why{Known, NoTarget, NoSpeed, Beyond} }

// Stating calls a function with each guess that is recorded.
func (l *Predictor) Stating(f func(*policy.Snapshot, calibration.Phase, job.ID, Guess)) {
	l.stating = f
}
