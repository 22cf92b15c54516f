package oxgang

import (
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// A basis is what the length and the weight of a job rest on.
type basis struct {
	from     perf.WorkSource
	told     float64 // length as stated or as the mean of the class, before corrections
	modelled bool
	weight   float64
	priced   bool   // its GPU type had a price in the last round
	owner    string // assumption about the owner of its nodes; empty: none
}

func vanished(s *policy.Snapshot) (gone []cluster.NodeID) {
	for _, j := range s.Jobs {
		for _, share := range j.Placement {
			if _, there := s.Cluster.Index(share.Node); !there {
				gone = append(gone, share.Node)
			}
		}
	}
	return gone
}

func (p *Policy) assumed(st *state) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if words := st.basis.weighed(st.share, p.weighted); words != "" {
		add("%s", words)
	}
	if words := st.sized(); words != "" {
		add("%s", words)
	}
	if !st.basis.modelled {
		add("its speed is not known yet: equal speed on all GPU types is assumed")
	}
	if c := st.gone; !c.IsZero() {
		add("nodes of the %d %s that it was on are gone: it counts as waiting", c.GPUs, c.GPUType)
	}
	if st.unsaved > 0 && !st.basis.priced {
		add("GPUs of its type had no price: repeating %s of its work is assumed to cost other jobs nothing", inWords(st.unsaved))
	}
	if st.basis.owner != "" {
		add("%s", st.basis.owner)
	}
	return all
}

func (b *basis) weighed(share float64, others bool) string {
	switch w := b.weight; {
	case w == share, w == 0 && !others:
		return ""
	case math.IsNaN(w):
		return "its weight NaN is not a number: 1 is used"
	case !(w > 0):
		return fmt.Sprintf("its weight %g is not above 0: 1 is used", w)
	default:
		return fmt.Sprintf("its weight %g is out of bounds: %g is used", w, share)
	}
}

func (st *state) sized() string {
	left, told := inWords(st.length), inWords(st.basis.told)
	switch {
	case st.basis.from == perf.FromClass:
		return fmt.Sprintf("it does not state its work: the mean of its class is assumed, %s left on its slowest GPU", left)
	case st.basis.from == perf.FromAttained:
		return fmt.Sprintf("its remaining work is not known: its work so far is assumed again, %s on its slowest GPU", left)
	case left != told:
		return fmt.Sprintf("statements of this job or of similar jobs were wrong: %s left on its slowest GPU are counted as %s", told, left)
	}
	return ""
}

func (p *Policy) unpriced(s *policy.Snapshot, of cluster.GPUType) string {
	for i := range s.Rentals {
		if n := &s.Rentals[i].Node; p.renter != nil && p.o.Rent.Money && n.GPUType == of && n.Price == 0 {
			return fmt.Sprintf("the price of the %s is not known: 1 per GPU-hour is assumed", of)
		}
	}
	return ""
}

func inWords(seconds float64) string {
	d := perf.Seconds(seconds)
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 1e4*time.Hour:
		return fmt.Sprintf("%.3g h", d.Hours())
	}
	return "more than a year"
}
