package goodput

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// reason explains why row i got the configuration of column (-1: nothing), by the prices of its level. If earlier
// levels leave no room for any choice, that comes before all reasons from prices.
func (l *levelled) reason(i, column int) policy.Reason {
	p, r := l.p, l.rows[i]
	p.prices = append(p.prices[:0], l.prices[l.of[i]]...)
	why := reasons{p}.reason(r, column)
	if waits := column < 0 && r.pin.IsZero() && r.job.Reservation.IsZero() && r.job.Phase != job.Profiling; !waits || !r.evicted && !l.before(i) {
		return why
	}
	kind := policy.WaitPriority
	if l.forTenants(i) {
		kind = policy.WaitShare
	}
	c := r.columns[r.item.origin[l.smallest(r)].column]
	return policy.Reason{Kind: kind, Config: c.Configuration, Value: p.free[c.resource], Limit: float64(c.GPUs)}
}

// before reports whether earlier stages leave row i nothing: a choice would fit without them, and none fits after
// them.
func (l *levelled) before(i int) bool {
	return l.fitsOn(i, l.alone[l.of[i]/2]) && !l.fitsOn(i, l.left[l.of[i]])
}

// forTenants reports whether row i waits for shares within its level, not for earlier levels.
func (l *levelled) forTenants(i int) bool {
	if r := l.rows[i]; r.evicted {
		return l.reclaimed[r]
	}
	return l.fitsOn(i, l.left[l.of[i]&^1])
}

func (l *levelled) fitsOn(i int, there []float64) bool {
	return slices.ContainsFunc(l.rows[i].item.choices, func(c mmkp.Choice) bool { return fits(&c, there) })
}

func (l *levelled) smallest(r *Row) int {
	all := make([]int, len(r.item.choices))
	for c := range all {
		all[c] = c
	}
	return slices.MinFunc(all, func(a, b int) int {
		x, y := &r.item.choices[a], &r.item.choices[b]
		return cmp.Or(cmp.Compare(x.Amount, y.Amount), cmp.Compare(l.now[y.Resource], l.now[x.Resource]))
	})
}
