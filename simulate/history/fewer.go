package history

import (
	"context"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

func cut(nodes *cluster.Cluster, keep, of int) *cluster.Cluster {
	left := make(map[cluster.GPUType]int)
	for _, t := range nodes.Types() {
		left[t.Type] = (t.Nodes*keep + of - 1) / of
	}
	gone := make(map[cluster.NodeID]bool)
	for _, n := range nodes.Nodes() {
		left[n.GPUType]--
		gone[n.ID] = left[n.GPUType] < 0
	}
	return nodes.Without(func(id cluster.NodeID) bool { return gone[id] })
}

// A Size has the simulated waits, in seconds, of the jobs on a cluster with GPUs GPUs.
type Size struct {
	GPUs     int     `json:"gpus"`
	MeanWait float64 `json:"mean_wait_s"`
	P90Wait  float64 `json:"p90_wait_s"`
}

const steps = 64

// fewer finds by bisection the fewest GPUs with which the best alternative makes jobs wait no longer than the
// own policy with all of them, for the change and for both ends of its range.
func (q *Question) fewer(ctx context.Context, a *Answer, nodes *cluster.Cluster) error {
	best, of := a.best, min(steps, len(nodes.Nodes()))
	tried := make(map[int]*Size)
	try := func(keep int) (*Size, error) {
		if s, ok := tried[keep]; ok {
			return s, nil
		}
		part := cut(nodes, keep, of)
		q.say("%s, %s, %d GPUs\n", best.policy, best.scenario.Name, part.GPUs())
		s, err := q.onPart(ctx, best, part)
		tried[keep] = s
		return s, err
	}
	target := func(factor float64) (int, error) {
		low, high := 0, of // low is too few, high is enough
		for high-low > 1 {
			middle := (low + high) / 2
			s, err := try(middle)
			switch {
			case err != nil:
				return 0, err
			case s != nil && s.MeanWait*factor <= a.replayed.MeanWait && s.P90Wait*factor <= a.replayed.P90Wait:
				high = middle
			default:
				low = middle
			}
		}
		return cut(nodes, high, of).GPUs(), nil
	}
	if best.MeanWait > a.replayed.MeanWait {
		return nil
	}
	longer, shorter := math.Inf(1), 0.0
	if best.High != nil {
		longer, shorter = best.change.High/best.change.Ratio, best.change.Low/best.change.Ratio
	}
	f := &Fewer{Policy: best.policy, Assumes: best.Assumes}
	for _, to := range []struct {
		factor float64
		gpus   *int
	}{{1, &f.Enough}, {longer, &f.AtMost}, {shorter, &f.AtLeast}} {
		n, err := target(to.factor)
		if err != nil {
			return err
		}
		*to.gpus = n
	}
	for _, s := range tried {
		if s != nil {
			f.Tried = append(f.Tried, *s)
		}
	}
	f.Tried = append(f.Tried, Size{nodes.GPUs(), best.MeanWait, best.P90Wait})
	slices.SortFunc(f.Tried, func(a, b Size) int { return a.GPUs - b.GPUs })
	f.share(nodes.GPUs(), &q.Price)
	a.Fewer = f
	return nil
}

func (q *Question) onPart(ctx context.Context, row *Row, part *cluster.Cluster) (*Size, error) {
	if !q.fits(part) {
		return nil, nil //nolint:nilnil // too small is an answer
	}
	result, _, err := q.simulate(ctx, variant{policy: row.policy, scenario: row.scenario, seed: q.Config.Sim.Seed, nodes: part})
	if err != nil {
		return nil, err
	}
	f := Compare(q.History.Jobs(), "", nil, result.Result).Figures(part.GPUs(), Run(0))
	return &Size{part.GPUs(), f.Wait, f.P90}, nil
}

func (q *Question) fits(part *cluster.Cluster) bool {
	for i := range q.History.Recorded.Jobs {
		o := &q.History.Recorded.Jobs[i]
		spec := &o.Arrival.Spec
		room := func(t cluster.TypeInfo) bool {
			return spec.Eligible(t.Type) && spec.GPUs <= t.GPUs && o.Nodes <= t.Nodes
		}
		if !slices.ContainsFunc(part.Types(), room) {
			return false
		}
	}
	return true
}
