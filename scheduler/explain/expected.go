package explain

import (
	"time"

	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// ExpectedIn converts a range of times into an estimate to print. The range was predicted a duration passed ago. open
// states that the actual time may be later than the range. If the range is unreliable, only Unknown, Held and Of are
// set.
func ExpectedIn(r *calibration.Range, open bool, passed time.Duration) *Expected {
	if why := r.Unreliable(); why != "" {
		return &Expected{Unknown: why, Held: r.Held, Of: r.Of}
	}
	left := func(d time.Duration) journal.Seconds { return journal.Seconds(max(0, d-passed)) }
	return &Expected{
		Early: left(r.Early), Likely: left(r.Likely), Late: left(r.Late), Open: open,
		Share: calibration.Share, Held: r.Held, Of: r.Of,
	}
}
