package counterfactual

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// Find returns the cheapest change after which job id of snapshot s gets GPUs, or more GPUs than under plan p. It makes
// one change at a time and plans the round again with d, in this order:
//
//  1. nothing changes, and the policy's background work is complete;
//  2. rented nodes that are ordered are up;
//  3. jobs whose end is predicted have ended, the soonest first, including waiting jobs. If none is predicted or they
//     do not help: one job with GPUs has ended, or several. Each of several is needed, unless there are too many jobs
//     to check;
//  4. the job has a higher priority: the priority of another job, or the next whole number above it. The lowest that
//     helps is returned. This comes before 3 if priority is the reason why the job waits;
//  5. it asks for one GPU less, two less, and so on;
//  6. it may use one more GPU type, has checkpoints, or may be preempted;
//  7. the cluster has 1, 2, 3 and so on more GPUs of a type;
//  8. waiting jobs have ended, too;
//  9. 1 to 32 more rounds have passed, and nothing else has changed.
//
// If none helps, the change has kind NothingHelps and lists what was tried. Complexity: about 2n plans for n jobs that
// hold GPUs, and one for each GPU of the largest type. With many jobs, the limits mostAlone and mostRows, and
// bisection, keep the number of plans lower.
//
// ends is the predicted time until jobs end; it may be nil. Without predictions jobs keep their GPUs and waiting jobs
// never end, so the change may name an end that is long after the real start of the job.
func Find(ctx context.Context, s *policy.Snapshot, p *policy.Plan, id job.ID, d Decider, ends map[job.ID]time.Duration) (*Change, error) {
	at := s.Index(id)
	if at < 0 || at >= len(p.Jobs) {
		return nil, fmt.Errorf("counterfactual: job %s: not in the snapshot", id)
	}
	f := &finder{ctx: ctx, s: s, plan: p, at: at, d: d, known: ends, index: make(map[job.ID]int, len(s.Jobs))}
	for i, j := range s.Jobs {
		f.index[j.ID] = i
	}
	c := f.first()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("counterfactual: job %s: %w", id, err)
	}
	c.Plans = f.asked
	return c, nil
}

type finder struct {
	ctx   context.Context
	s     *policy.Snapshot
	plan  *policy.Plan
	at    int
	d     Decider
	known map[job.ID]time.Duration
	index map[job.ID]int
	asked int
	tried []Kind
}

func (f *finder) first() *Change {
	first, then := f.ends, f.higher
	if f.plan.Jobs[f.at].Why.Kind == policy.WaitPriority {
		first, then = then, first
	}
	for _, try := range []func() *Change{f.waiting, f.nodes, first, then, f.request, f.larger, f.emptied, f.later} {
		if c := try(); c != nil {
			return c
		}
	}
	return &Change{Kind: NothingHelps, Tried: f.tried, In: mostRounds * f.s.Length, Budget: f.plan.Jobs[f.at].Why.Kind == policy.WaitBudget}
}

// helps decides the round with the snapshot of then, completes the change, and reports whether the job gets
// more GPUs.
func (f *finder) helps(c *Change, then func() *policy.Snapshot) bool {
	if f.ctx.Err() != nil {
		return false
	}
	s := then()
	if s == nil {
		return false
	}
	if len(f.tried) == 0 || f.tried[len(f.tried)-1] != c.Kind {
		f.tried = append(f.tried, c.Kind)
	}
	f.asked++
	plan, err := f.d.Decide(f.ctx, s)
	if err != nil {
		return false
	}
	c.Gets = plan.Jobs[s.Index(f.s.Jobs[f.at].ID)].Allocation
	c.Each = f.s.Jobs[f.at].Equivalent(c.Gets.GPUType)
	if c.Kind == MoreGPUs {
		c.Others = f.others(plan)
	}
	return better(f.s.Jobs[f.at], f.plan.Jobs[f.at].Allocation, c.Gets)
}

func (f *finder) others(plan *policy.Plan) int {
	more := 0
	for i := range plan.Jobs {
		if i != f.at {
			more += plan.Jobs[i].Allocation.AllGPUs() - f.plan.Jobs[i].Allocation.AllGPUs()
		}
	}
	return more
}

func better(j *policy.Job, a, b cluster.Allocation) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() && !b.IsZero()
	}
	was, _ := j.Speed(a)
	if now, _ := j.Speed(b); was > 0 && now > 0 {
		return now > was
	}
	return a.GPUType == b.GPUType && b.GPUs > a.GPUs
}

func (f *finder) waiting() *Change {
	if c := (&Change{Kind: NoChange}); f.helps(c, func() *policy.Snapshot { return f.s }) {
		return c
	}
	return nil
}

func (f *finder) nodes() *Change {
	for i := range f.s.Rentals {
		r := &f.s.Rentals[i]
		n := max(r.Starting, f.plan.Capacity[r.Group]-r.Ready)
		c := &Change{Kind: NodesCome, Group: r.Group, Type: r.Node.GPUType, GPUs: n * r.Node.Capacity.GPUs}
		if n > 0 && f.helps(c, func() *policy.Snapshot { return arrived(f.s, i, n) }) {
			return c
		}
	}
	return nil
}

func (f *finder) later() *Change {
	for n := 1; n <= mostRounds; n++ {
		c := &Change{Kind: RoundsPass, Rounds: n, In: time.Duration(n) * f.s.Length}
		if f.helps(c, func() *policy.Snapshot { return after(f.s, n) }) {
			return c
		}
	}
	return nil
}

const mostRounds = 32

func (f *finder) with(change func(*job.Spec)) func() *policy.Snapshot {
	return func() *policy.Snapshot { return With(f.s, f.at, change) }
}

func (f *finder) request() *Change {
	j := f.s.Jobs[f.at]
	if c := f.least(asks(j)-1, f.fewer); c != nil {
		return c
	}
	for _, t := range f.s.Cluster.Types() {
		if j.Eligible(t.Type) || j.GPUsPerReplica != nil {
			continue
		}
		allow := func(spec *job.Spec) { spec.GPUTypes = append(slices.Clone(spec.GPUTypes), t.Type) }
		if c := (&Change{Kind: AnotherType, Type: t.Type}); f.helps(c, f.with(allow)) {
			return c
		}
	}
	return f.gentler(j)
}

const mostPriorities = 16

func (f *finder) higher() *Change {
	own := f.s.Jobs[f.at].Priority
	var all []float64
	for _, j := range f.s.Jobs {
		if p := j.Priority; p > own && !math.IsInf(p, 1) {
			all = append(all, p, math.Floor(p)+1)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, p := range all[:min(len(all), mostPriorities)] {
		raise := func(spec *job.Spec) { spec.Priority = p }
		if c := (&Change{Kind: MorePriority, Priority: p}); f.helps(c, f.with(raise)) {
			return c
		}
	}
	return nil
}

func (f *finder) gentler(j *policy.Job) *Change {
	c := &Change{Kind: Checkpoints}
	if j.NoCheckpoint && f.helps(c, f.with(func(spec *job.Spec) { spec.NoCheckpoint = false })) {
		return c
	}
	c = &Change{Kind: Preemptible}
	if j.NonPreemptive && f.helps(c, f.with(func(spec *job.Spec) { spec.NonPreemptive = false })) {
		return c
	}
	return nil
}

func (f *finder) larger() *Change {
	most := asks(f.s.Jobs[f.at])
	for _, t := range f.s.Cluster.Types() {
		most = max(most, t.GPUs)
	}
	return f.least(most, f.more)
}

func (f *finder) more(n int) *Change {
	j := f.s.Jobs[f.at]
	for _, t := range f.s.Cluster.Types() {
		c := &Change{Kind: MoreGPUs, GPUs: n, Type: t.Type}
		if j.Eligible(t.Type) && f.helps(c, func() *policy.Snapshot { return Grown(f.s, &t, n) }) {
			return c
		}
	}
	return nil
}

func (f *finder) fewer(n int) *Change {
	c := &Change{Kind: FewerGPUs, GPUs: asks(f.s.Jobs[f.at]) - n}
	if !f.helps(c, f.with(asking(c.GPUs))) {
		return nil
	}
	c.Of = f.totals(c.Gets.GPUType)
	return c
}

// least returns the change of the smallest number from 1 to most that helps; nil if none does. With many jobs it
// doubles and bisects after the first few, assuming that larger numbers help if smaller ones do.
func (f *finder) least(most int, try func(n int) *Change) *Change {
	few := min(most, max(oneByOne, mostRows/max(1, len(f.s.Jobs))))
	if f.many(most) && try(most) == nil {
		return nil
	}
	for n := 1; n <= few; n++ {
		if c := try(n); c != nil {
			return c
		}
	}
	for low := few; low < most; low *= 2 {
		high := min(most, 2*low)
		if c := try(high); c != nil {
			return between(low, high, c, try)
		}
	}
	return nil
}

const oneByOne = 16

func between(low, high int, c *Change, try func(n int) *Change) *Change {
	for high-low > 1 {
		half := (low + high) / 2
		if less := try(half); less != nil {
			c, high = less, half
		} else {
			low = half
		}
	}
	return c
}

func asks(j *policy.Job) int {
	switch {
	case !j.Reservation.IsZero():
		return j.Reservation.GPUs
	case j.Adaptivity.Has(job.GPUCount):
		return max(1, j.MinGPUs)
	}
	return max(1, j.GPUs)
}

func (f *finder) holders() []job.ID {
	var all []job.ID
	ends := map[job.ID]time.Duration{}
	for i, j := range f.s.Jobs {
		if i == f.at || f.plan.Jobs[i].Allocation.IsZero() {
			continue
		}
		all = append(all, j.ID)
		if ends[j.ID] = f.endsIn(i); ends[j.ID] < 0 {
			ends[j.ID] = math.MaxInt64
		}
	}
	slices.SortStableFunc(all, func(a, b job.ID) int { return cmp.Compare(ends[a], ends[b]) })
	return all
}

func (f *finder) endsIn(i int) time.Duration {
	j := f.s.Jobs[i]
	if f.plan.Jobs[i].Allocation.IsZero() {
		return -1
	}
	rate, _ := j.Speed(f.plan.Jobs[i].Allocation)
	basis := f.s.Basis(j)
	left, from := basis.Time(rate)
	if !(rate > 0) || from != perf.FromStated {
		return -1
	}
	return left
}

func (f *finder) lastEnd(jobs []job.ID) time.Duration {
	last := time.Duration(0)
	for _, id := range jobs {
		d, ok := f.known[id]
		if !ok {
			d = f.endsIn(f.index[id])
		}
		if d < 0 {
			return -1
		}
		last = max(last, d)
	}
	return last
}
