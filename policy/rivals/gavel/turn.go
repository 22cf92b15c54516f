package gavel

import (
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// begins reports whether a turn begins, to the nearest round: fractions are found and jobs that
// hold GPUs give way only then, where plans are made more often than every Turn. Those that AlloX
// matched run until they are done; others have spare GPUs for a turn.
func (p *Policy) begins(s *policy.Snapshot) bool {
	if p.o.Rules != Paper || p.turned.IsZero() || s.Now.Sub(p.turned)+s.Length/2 >= p.o.Turn {
		p.turned = s.Now
		return true
	}
	return false
}

// span returns the time from one choice of who runs to the next: a turn, or a round if that is
// longer.
func (p *Policy) span(s *policy.Snapshot) time.Duration {
	return max(s.Length, p.o.Turn)
}

// kept notes on which types the jobs are that keep what they hold: within a turn all do; those
// without checkpoints always.
//
// Deviation: jobs without checkpoints have what is owed to others, because Gavel's jobs all have
// checkpoints.
func (p *Policy) kept(r *grant.Round) {
	for _, a := range p.active {
		if r.Decided(a.index) {
			a.last = p.typeOf(a)
		}
	}
}
