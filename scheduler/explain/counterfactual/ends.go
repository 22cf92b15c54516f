package counterfactual

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

func (f *finder) soonest() *Change {
	var all []job.ID
	for i, j := range f.s.Jobs {
		if _, ok := f.known[j.ID]; ok && i != f.at {
			all = append(all, j.ID)
		}
	}
	slices.SortStableFunc(all, func(a, b job.ID) int { return cmp.Compare(f.known[a], f.known[b]) })
	return f.needed(all)
}

func (f *finder) ends() *Change {
	if c := f.soonest(); c != nil {
		return c
	}
	holders := f.holders()
	if f.many(len(holders)) && f.without(holders) == nil {
		return nil
	}
	for _, id := range f.samples(holders) {
		if c := f.without(holders[:0:0], id); c != nil {
			return c
		}
	}
	return f.needed(holders)
}

// many reports whether a number of plans, one after the other, would take too long. The largest change is then tried
// first: if it does not help, smaller ones are assumed not to help either.
func (f *finder) many(plans int) bool { return plans*len(f.s.Jobs) > mostRows }

func (f *finder) samples(holders []job.ID) []job.ID {
	most := mostAlone / max(1, len(f.s.Jobs))
	if len(holders) <= most {
		return holders
	}
	kind := make(map[job.ID]cluster.Configuration, len(f.s.Jobs))
	for i, j := range f.s.Jobs {
		a := &f.plan.Jobs[i].Allocation
		kind[j.ID] = cluster.Configuration{GPUType: a.GPUType, GPUs: a.GPUs}
	}
	seen, nth := map[cluster.Configuration]int{}, make(map[job.ID]int, len(holders))
	for _, id := range holders {
		nth[id] = seen[kind[id]]
		seen[kind[id]]++
	}
	some := slices.Clone(holders)
	slices.SortStableFunc(some, func(a, b job.ID) int { return cmp.Compare(nth[a], nth[b]) })
	return some[:most]
}

// mostAlone bounds the number of plans times jobs that try the end of one job.
const mostAlone = 1_000_000

func (f *finder) emptied() *Change {
	all := f.holders()
	for i, j := range f.s.Jobs {
		if i != f.at && f.plan.Jobs[i].Allocation.IsZero() {
			all = append(all, j.ID)
		}
	}
	if f.many(len(all)) {
		return f.middle(all, len(f.holders()))
	}
	return f.needed(all)
}

// middle is needed for many jobs. Most of them wait. It bisects, because the plans without most jobs are the cheapest. The
// end of the first low jobs does not help.
func (f *finder) middle(jobs []job.ID, low int) *Change {
	c := f.without(jobs)
	for n := len(jobs); c != nil && n-low > 1; {
		half := (low + n) / 2
		if fewer := f.without(jobs[:half]); fewer != nil {
			c, n = fewer, half
		} else {
			low = half
		}
	}
	return f.spareable(c)
}

func (f *finder) without(ended []job.ID, and ...job.ID) *Change {
	c := &Change{Kind: JobsEnd, Jobs: append(slices.Clone(ended), and...)}
	if len(c.Jobs) == 0 || !f.helps(c, func() *policy.Snapshot { return Without(f.s, c.Jobs) }) {
		return nil
	}
	c.In, c.Ahead, c.Of = f.lastEnd(c.Jobs), true, f.totals(c.Gets.GPUType)
	for _, id := range c.Jobs {
		if i := f.index[id]; !f.plan.Jobs[i].Allocation.IsZero() {
			c.Holding = append(c.Holding, id)
		} else {
			c.Ahead = c.Ahead && f.ahead(i)
		}
	}
	return c
}

func (f *finder) totals(of cluster.GPUType) (t Totals) {
	for i := range f.s.Jobs {
		a := &f.plan.Jobs[i].Allocation
		for _, c := range []cluster.Configuration{a.Configuration, a.Also} {
			if c.GPUType == of {
				t.Free -= c.GPUs
			}
		}
		switch {
		case i == f.at:
		case a.IsZero():
			t.Waiting++
		default:
			t.Running++
		}
	}
	if k := f.s.Cluster.TypeIndex(of); k >= 0 {
		t.Free += f.s.Cluster.Types()[k].GPUs
	}
	if own := f.plan.Jobs[f.at].Why; own.Kind == policy.WaitOrder {
		t.Ahead = int(own.Value)
	}
	return t
}

func (f *finder) ahead(i int) bool {
	own, why := &f.plan.Jobs[f.at].Why, &f.plan.Jobs[i].Why
	if own.Kind != policy.WaitOrder {
		return false
	}
	switch why.Kind {
	case policy.WaitNoCapacity, policy.WaitServed, policy.WaitPriority, policy.WaitShare:
		return true
	case policy.WaitOrder:
		return why.Value < own.Value
	default:
		return false
	}
}

// needed returns the end of as few of the first jobs as possible; nil if the end of all does not help. It is Rough if
// there are too many jobs to check each.
func (f *finder) needed(jobs []job.ID) *Change { return f.spareable(f.fewest(jobs)) }

func (f *finder) spareable(c *Change) *Change {
	left := mostRows / max(1, len(f.s.Jobs))
	if c != nil && left*100 < len(c.Jobs) {
		left = 0 // so few of them say nothing about the others
	}
	for c != nil && left > 0 {
		fewer := f.spared(c, &left)
		if len(fewer.Jobs) == len(c.Jobs) {
			break
		}
		c = fewer
	}
	if c != nil && left <= 0 {
		if c.Rough = true; f.known == nil {
			c.In = -1
		}
	}
	return c
}

// mostRows bounds the number of plans times jobs that look for ends that are not needed.
const mostRows = 100_000

// fewest returns the end of the fewest first jobs that help, by doubling and bisection; nil if the end of all
// does not.
func (f *finder) fewest(jobs []job.ID) *Change {
	var c *Change
	low, n := 0, 1 // the end of the first low ones does not help
	for ; ; n *= 2 {
		n = min(n, len(jobs))
		if c = f.without(jobs[:n]); c != nil {
			break
		}
		if low = n; n == len(jobs) {
			return nil
		}
	}
	for n-low > 1 {
		half := (low + n) / 2
		if fewer := f.without(jobs[:half]); fewer != nil {
			c, n = fewer, half
		} else {
			low = half
		}
	}
	return c
}

func (f *finder) spared(c *Change, left *int) *Change {
	for i := len(c.Jobs) - 1; i >= 0 && *left > 0; i-- {
		*left--
		if fewer := f.without(slices.Delete(slices.Clone(c.Jobs), i, i+1)); fewer != nil {
			c = fewer
		}
	}
	return c
}
