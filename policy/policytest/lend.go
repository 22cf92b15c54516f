package policytest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// NewLendingWorld draws a random World in which some nodes are lent by other clusters. It tests policies that decide
// how many nodes to borrow.
func NewLendingWorld(t *rapid.T) *World { return newLendingWorld(t, true) }

func newLendingWorld(t *rapid.T, midlife bool) *World {
	nodes := slices.Clone(Clusters().Draw(t, "cluster").Nodes())
	lent, both := rapid.SampledFrom(nodes).Draw(t, "a lent node").GPUType, oneIn(t, 4, "of both tenures")
	groups := []cluster.Group{"search", "maps"}[:rapid.IntRange(1, 2).Draw(t, "owners")]
	m := market{away: make(map[cluster.NodeID]bool)}
	for i := range nodes {
		if n := &nodes[i]; i > 0 && n.GPUType == lent && (!both || rapid.Bool().Draw(t, "is lent")) {
			n.Tenure, n.Group = cluster.Loaned, rapid.SampledFrom(groups).Draw(t, "owner")
			m.away[n.ID] = !midlife || oneIn(t, 3, "is not lent")
		}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatalf("generate a cluster: %v", err)
	}
	return newWorld(t, c, m)
}

func (w *World) needs(t *rapid.T, s *job.Spec) {
	lent := w.loans[0].Node.GPUType
	if kept := w.all.TypesNotOnLoan(); s.Reservation.IsZero() && oneIn(t, 4, "only types that are owned") {
		s.GPUTypes = nil
		for i := range kept {
			s.GPUTypes = append(s.GPUTypes, kept[i].Type)
		}
	}
	s.NoCheckpoint = oneIn(t, 3, "has no checkpoint")
	if !s.Reservation.IsZero() {
		return
	}
	if rapid.Bool().Draw(t, "needs more GPUs on loan") {
		s.Equivalents = map[cluster.GPUType]int{lent: rapid.SampledFrom([]int{3, 3, 2}).Draw(t, "GPUs for one")}
	}
	if s.GPUsPerReplica == nil && oneIn(t, 3, "runs on two types at once") {
		s.Adaptivity |= job.Heterogeneous
	}
	s.Resizes = rapid.Bool().Draw(t, "resizes")
	of := rapid.SampledFrom([]int{0, 1, 2, 4}).Draw(t, "GPUs of a worker")
	if of > 0 && s.GPUs%of == 0 && s.MinGPUs%of == 0 {
		s.WorkerGPUs = of
	}
}

func (w *World) lend(t *rapid.T, p *policy.Plan) {
	if len(w.loans) == 0 {
		return
	}
	for i := range w.loans {
		l := &w.loans[i]
		w.borrow(l, p.Capacity[l.Group]-l.Lent)
	}
	w.giveBack(p.Return)
	for i := range w.loans {
		l := &w.loans[i]
		if l.Reclaim > 0 && !l.By.After(w.Now()) {
			w.seize(l)
		}
		w.review(t, l)
	}
	w.failNodes(w.down)
}

func (w *World) borrow(l *cluster.Loan, more int) {
	more = min(more, l.Spare)
	for _, n := range w.all.Nodes() {
		if n.Tenure == cluster.Loaned && n.Group == l.Group && w.market.away[n.ID] && more > 0 {
			delete(w.market.away, n.ID)
			l.Lent, more = l.Lent+1, more-1
		}
	}
}

func (w *World) giveBack(back []cluster.NodeID) {
	for _, id := range back {
		n, _ := w.all.Index(id)
		i := slices.IndexFunc(w.loans, func(l cluster.Loan) bool { return l.Group == w.all.Nodes()[n].Group })
		w.market.away[id] = true
		w.loans[i].Lent, w.loans[i].Reclaim = w.loans[i].Lent-1, max(0, w.loans[i].Reclaim-1)
	}
}

func (w *World) seize(l *cluster.Loan) {
	used := w.used()
	for _, busy := range []bool{false, true} {
		for _, n := range w.all.Nodes() {
			if l.Reclaim > 0 && n.Tenure == cluster.Loaned && n.Group == l.Group && !w.market.away[n.ID] && used[n.ID] == busy {
				w.giveBack([]cluster.NodeID{n.ID})
			}
		}
	}
	w.lose(func(id cluster.NodeID) bool { return w.market.away[id] })
}

func (w *World) review(t *rapid.T, l *cluster.Loan) {
	if l.Lent > 0 && oneIn(t, 3, "wants nodes back") {
		if l.Reclaim == 0 {
			l.By = w.Now().Add(time.Duration(rapid.IntRange(1, 3).Draw(t, "minutes of grace")) * time.Minute)
		}
		l.Reclaim = min(l.Lent, l.Reclaim+rapid.IntRange(1, l.Lent).Draw(t, "more nodes wanted back"))
	}
	l.Spare = 0
	if l.Reclaim == 0 {
		l.By, l.Spare = time.Time{}, rapid.IntRange(0, l.Nodes-l.Lent).Draw(t, "nodes to spare")
	}
	l.Load = rapid.Float64Range(0, 1).Draw(t, "load")
	l.Expected, l.Every = nil, 0
	if rapid.Bool().Draw(t, "looks ahead") {
		l.Expected, l.Every = rapid.SliceOfN(rapid.IntRange(0, l.Nodes), 1, 6).Draw(t, "nodes lent later"), 5*time.Minute
	}
}

func resizes(j *policy.Job, d *policy.Decision) bool {
	return j.Resizes && j.Holding() && d.Allocation.GPUType == j.Allocation.GPUType &&
		d.Placement.Common(j.Placement) >= j.Min(j.Allocation.GPUType)
}

func vacates(p cluster.Placement, back []cluster.NodeID) bool {
	return slices.ContainsFunc(p, func(s cluster.Share) bool {
		_, goes := slices.BinarySearch(back, s.Node)
		return goes
	})
}
