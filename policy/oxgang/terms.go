package oxgang

import (
	"slices"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

var _ policy.Weigher = (*Policy)(nil)

type ignored struct {
	job   job.ID
	terms []policy.Term
}

// Ignore implements policy.Weigher.
func (p *Policy) Ignore(id job.ID, all ...policy.Term) { p.ignored = ignored{id, all} }

func (g *ignored) leaves(t policy.Term) bool { return slices.Contains(g.terms, t) }

func (g *ignored) own(id job.ID, t policy.Term) bool { return g.leaves(t) && g.job == id }

// Weighed implements policy.Weigher.
func (p *Policy) Weighed(id job.ID) (policy.Terms, bool) {
	st := p.jobs[id]
	if st == nil || st.seen != p.round {
		return policy.Terms{}, false
	}
	redone := 0.0
	if st.cost > 0 {
		redone = st.unsaved
	}
	return policy.Terms{
		Weight: st.weight, Mean: p.weights / float64(max(1, len(p.active))), Jobs: len(p.lengths),
		Rank: st.rank, Slack: st.slack, Rho: st.rho, Share: st.share, Last: st.last, Restart: st.cost, Move: st.move, Redone: redone,
		Assumed: p.assumed(st),
	}, true
}
