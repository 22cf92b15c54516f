package gavel

import (
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

func (p *Policy) begins(s *policy.Snapshot) bool {
	if p.o.Rules != Paper || p.turnStart.IsZero() || s.Now.Sub(p.turnStart)+s.Length/2 >= p.o.Turn {
		p.turnStart = s.Now
		return true
	}
	return false
}

func (p *Policy) span(s *policy.Snapshot) time.Duration {
	return max(s.Length, p.o.Turn)
}

// recordKept records the types of jobs that keep their GPUs.
//
// Deviation: jobs without checkpoints use time owed to others, because Gavel's jobs all have checkpoints.
func (p *Policy) recordKept(r *grant.Round) {
	for _, a := range p.active {
		if r.Decided(a.index) {
			a.last = p.typeOf(a)
		}
	}
}
