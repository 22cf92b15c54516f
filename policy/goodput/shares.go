package goodput

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// Shares. A tenant's share is a part of each resource. Its jobs have the first claim to it; what they do not use,
// other tenants may borrow. A plan is first made without shares. If it leaves a tenant short, the round is planned
// again, with the jobs of this tenant first, in a program within its share. If another tenant is then short, it is
// added, until none is. Each pass adds a tenant, so the passes end.
//
// After the shares, jobs without checkpoints keep what they hold while it lasts, those with the most work to lose
// first. Then all other jobs choose. So a job without checkpoints stops only for a share of another tenant, and only
// while its own tenant borrows.
//
// Invariant: jobs that a tenant has within its share do not stop for other tenants. If one stopped, the tenant would
// have a job that waits and fits into its share, and would be short. Shares add up to at most the whole, so serving
// one tenant leaves room for the shares of the others, except for pinned jobs, whole jobs, and GPUs scattered over
// nodes.

// A Tenant has a share of a cluster. Rows of one tenant have the same pointer.
type Tenant struct {
	Part float64 // of each resource, 0 to 1
}

type tenants map[*Tenant]bool

// planGuaranteed plans a round of one level in which tenants are short. Jobs that were pinned for their work or a claim
// choose again, because a tenant may have lent what they hold.
func (p leveller) planGuaranteed(ctx context.Context, now time.Time, rows []*Row, short tenants) (*policy.Plan, error) {
	for _, r := range rows {
		r.Stays, r.firm = false, false
	}
	pinner(p).pin(rows)
	if err := p.file(rows); err != nil {
		return nil, err
	}
	return p.planLevels(ctx, now, rows, []int{rows[0].Level}, short)
}

func (p leveller) lacking(rows []*Row, sol *mmkp.Solution, short tenants) (added bool) {
	spare := p.spare(rows, sol)
	for _, r := range rows {
		if r.Tenant != nil && !short[r.Tenant] && r.lacks(sol, spare[r.Tenant]) {
			short[r.Tenant], added = true, true
		}
	}
	return added
}

func (p leveller) spare(rows []*Row, sol *mmkp.Solution) map[*Tenant][]float64 {
	whole, _ := p.couple(p.cluster)
	used := make(map[*Tenant][]float64)
	for _, r := range rows {
		if r.Tenant == nil {
			continue
		}
		if used[r.Tenant] == nil {
			used[r.Tenant] = make([]float64, len(whole))
		}
		r.addUse(used[r.Tenant], sol)
	}
	for t, rest := range used {
		for k := range rest {
			if rest[k] = max(0, (t.Part+rounded)*whole[k]-rest[k]); k >= p.firstSet {
				rest[k] = whole[k] // shares are of GPU types, not of node sets
			}
		}
	}
	return used
}

func (r *Row) addUse(used []float64, sol *mmkp.Solution) {
	if pick := sol.Pick[r.item.number]; pick >= 0 {
		for k := range used {
			used[k] += r.item.choices[pick].Uses(k)
		}
	}
}

// lacks reports whether a job waits or has less than it requests, although a better choice fits into the rest of its
// tenant's share.
func (r *Row) lacks(sol *mmkp.Solution, spare []float64) bool {
	it := &r.item
	has := sol.Pick[it.number]
	if r.pinned() {
		return false
	}
	for c := range it.choices {
		own := it.choices[c]
		if !r.claimed(int(it.origin[c].column)) || it.value(c) <= 0 {
			continue
		}
		if has >= 0 {
			if own.Resource != it.choices[has].Resource || own.Amount <= it.choices[has].Amount || it.value(c) <= it.value(has) {
				continue
			}
			own = mmkp.Choice{Use: mmkp.Use{Resource: own.Resource, Amount: own.Amount - it.choices[has].Amount}, More: beyond(&own, &it.choices[has])}
		}
		if fits(&own, spare) {
			return true
		}
	}
	return false
}

// guarantee serves the jobs of a level whose tenants are short, each tenant within its share: first jobs that would
// lose their work, then claims, then all others. It returns the highest prices.
func (l *levelled) guarantee(level int) ([]float64, error) {
	highest := make([]float64, len(l.now))
	for _, own := range l.byTenant(level) {
		for _, options := range []func(*Row) []option{l.staying, l.promised, leveller{l.p}.claims} {
			prices, err := l.stage(own, l.unserved(options), l.within(l.rows[own[0]].Tenant))
			if err != nil {
				return nil, err
			}
			for k := range prices {
				highest[k] = max(highest[k], prices[k])
			}
		}
		for _, i := range own {
			if r := l.rows[i]; l.sol.Pick[r.item.number] >= 0 {
				l.of[i] = 2 * level
			}
		}
	}
	return highest, nil
}

func (l *levelled) keep(level int) error {
	for _, options := range []func(*Row) []option{l.staying, l.promised} {
		if _, err := l.stage(l.at[level], l.unserved(options), l.there()); err != nil {
			return err
		}
	}
	return nil
}

func (l *levelled) byTenant(level int) (all [][]int) {
	at := make(map[*Tenant]int)
	for _, i := range l.at[level] {
		t := l.rows[i].Tenant
		if !l.short[t] {
			continue
		}
		if _, known := at[t]; !known {
			at[t], all = len(all), append(all, nil)
		}
		all[at[t]] = append(all[at[t]], i)
	}
	return all
}

func (l *levelled) within(t *Tenant) []float64 {
	there, spare := l.there(), leveller{l.p}.spare(l.rows, l.sol)[t]
	for k := range there {
		there[k] = max(0, min(there[k], spare[k]))
	}
	return there
}

func (l *levelled) unserved(options func(*Row) []option) func(*Row) []option {
	return func(r *Row) []option {
		if l.sol.Pick[r.item.number] >= 0 {
			return nil
		}
		return options(r)
	}
}

// staying returns what a job without checkpoints holds. Its worth is the GPU time that it would lose, in seconds.
func (l *levelled) staying(r *Row) (all []option) {
	if !r.stays() {
		return nil
	}
	for c, at := range r.item.origin {
		if int(at.column) == r.held {
			own := &r.item.choices[c]
			all = append(all, option{c, mmkp.Choice{Value: 1 + r.job.AttainedGPUService(l.clock).Seconds(), Use: own.Use, More: own.More}})
		}
	}
	return all
}

func (l *levelled) promised(r *Row) (all []option) {
	if r.Claim.Rate <= 0 || r.pinned() || r.evicted {
		return nil
	}
	for c, at := range r.item.origin {
		if own := &r.item.choices[c]; r.reaches(int(at.column), r.cells[at.column][at.cell].goodput) {
			all = append(all, option{c, mmkp.Choice{Value: r.item.value(c), Use: own.Use, More: own.More}})
		}
	}
	return all
}
