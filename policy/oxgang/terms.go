package oxgang

import (
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

var _ policy.Weigher = (*Policy)(nil)

// Weighed implements policy.Weigher.
func (p *Policy) Weighed(id job.ID) (policy.Terms, bool) {
	st := p.jobs[id]
	if st == nil || st.seen != p.round {
		return policy.Terms{}, false
	}
	return policy.Terms{
		Weight: st.weight, Mean: p.weights / float64(max(1, len(p.active))), Jobs: len(p.lengths),
		Rank: st.rank, Slack: st.slack, Rho: st.rho, Share: st.share, Last: st.last, Restart: st.cost, Move: st.move,
		Assumed: p.assumed(st),
	}, true
}
