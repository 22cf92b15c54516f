package whatif

import (
	"time"

	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A coarse makes rounds of a scenario longer the further they are ahead, as long as no job comes or ends. Then
// most policies would leave things as they are, and a policy that would not is simulated a little wrong.
// Rounds end when rounds of the length would.
type coarse struct {
	share  float64       // of the time from the start to a round that it may be longer; 0: all have the length
	length time.Duration // of a round
	until  time.Time     // when the present round ends if nothing happens; zero: not set yet
	news   bool          // a job has come or ended in this round
}

// ends returns when a round ends that would end at a deadline if it were not longer.
func (c *coarse) ends(deadline, now time.Time) time.Time {
	if c.share == 0 {
		return deadline
	}
	if c.until.IsZero() {
		longer := time.Duration(c.share * float64(deadline.Sub(sim.Epoch)))
		c.until = deadline.Add(longer.Truncate(c.length))
	}
	if c.news { // the first end of a round from now on
		past := max(0, now.Sub(deadline)+c.length-1).Truncate(c.length)
		c.until = deadline.Add(past)
	}
	return c.until
}

// ended begins the next round, and returns how many rounds of the length the last one was.
func (c *coarse) ended(deadline, now time.Time) int {
	c.until, c.news = time.Time{}, false
	if c.share == 0 {
		return 1
	}
	return 1 + int(now.Sub(deadline)/c.length)
}

// heard notes what happened.
func (c *coarse) heard(ev scheduler.Event) {
	switch ev.(type) {
	case scheduler.Exited, scheduler.Submitted, scheduler.Restored:
		c.news = true
	}
}
