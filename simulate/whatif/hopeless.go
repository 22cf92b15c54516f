package whatif

import "github.com/oxgang/oxgang/policy"

const (
	trialRounds = 10 // rounds after which a scenario checks whether it is hopeless
	fasterStart = 4  // factor by which jobs may start faster than in these rounds
)

// hopeless reports whether the limit of plans ends the scenario long before any of the awaited jobs starts: after the
// first rounds, more jobs are ahead of each than the remaining plans start at fasterStart times the pace so far. It is
// false if all jobs are awaited.
func (w *simulatedWorld) hopeless(s *policy.Snapshot, p *policy.Plan) bool {
	if w.played != trialRounds || len(w.awaited) == 0 {
		return false
	}
	most := fasterStart * max(1, w.begun) * w.plans / w.played
	for _, id := range w.awaited {
		if i := s.Index(id); i < 0 || s.Jobs[i].Holding() || !p.Jobs[i].Allocation.IsZero() || aheadOf(p, i) <= most {
			return false
		}
	}
	return true
}

// aheadOf returns how many waiting jobs come before job number at in a plan, by its reasons; 0 if they do not order jobs.
func aheadOf(p *policy.Plan, at int) int {
	own := &p.Jobs[at].Why
	switch own.Kind {
	case policy.WaitOrder:
		return int(own.Value)
	case policy.WaitPrice:
		n := 0
		for i := range p.Jobs {
			why := &p.Jobs[i].Why
			if why.Kind == policy.WaitPrice && why.Config.GPUType == own.Config.GPUType && why.Value > own.Value {
				n++
			}
		}
		return n
	default:
		return 0
	}
}
