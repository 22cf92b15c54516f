package whatif

import (
	"sort"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/sim"
)

type usage struct {
	at    []time.Duration // since the start of the recording
	share []float64       // of its GPUs, from then on
}

func (u *usage) changed(at time.Duration, loans []cluster.Loan) {
	if len(loans) == 0 || loans[0].Nodes == 0 {
		return
	}
	l := &loans[0]
	lends := float64(l.Lent+l.Spare-l.Reclaim) / float64(l.Nodes)
	u.at, u.share = append(u.at, at), append(u.share, max(l.Load, 1-sim.DefaultLender().Headroom-lends))
}

func (u *usage) of(at time.Duration) float64 {
	i := sort.Search(len(u.at), func(i int) bool { return u.at[i] > at })
	if i == 0 {
		return 1
	}
	return u.share[i-1]
}
