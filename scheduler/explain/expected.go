package explain

import (
	"time"

	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// ExpectedIn returns what is expected by a range, as seen a time after the range was found. open says
// that it may be later than the range ends. A range of an unreliable kind is not returned: only Unknown, Held and Of are set.
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
