package whatif

import (
	"time"

	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A coarse makes rounds of a scenario longer the further ahead they are, as long as no job comes or ends. Rounds
// end at ends of normal rounds.
type coarse struct {
	share  float64 // of the time since the start by which a round may be longer; 0: none
	length time.Duration
	until  time.Time // end of the present round if nothing happens; zero: not set yet
	news   bool      // a job has come or ended in this round
}

func (c *coarse) ends(deadline, now time.Time) time.Time {
	if c.share == 0 {
		return deadline
	}
	if c.until.IsZero() {
		longer := time.Duration(c.share * float64(deadline.Sub(sim.Epoch)))
		c.until = deadline.Add(longer.Truncate(c.length))
	}
	if c.news {
		past := max(0, now.Sub(deadline)+c.length-1).Truncate(c.length)
		c.until = deadline.Add(past)
	}
	return c.until
}

func (c *coarse) ended(deadline, now time.Time) int {
	c.until, c.news = time.Time{}, false
	if c.share == 0 {
		return 1
	}
	return 1 + int(now.Sub(deadline)/c.length)
}

func (c *coarse) heard(ev scheduler.Event) {
	switch ev.(type) {
	case scheduler.Exited, scheduler.Submitted, scheduler.Restored:
		c.news = true
	}
}
