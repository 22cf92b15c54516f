package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Check returns nil if p is a valid plan for s. Otherwise it returns all violations, joined, in the order of the jobs.
// A valid plan keeps these rules:
//
//  1. Decisions: there is one per job, and all numbers are finite.
//  2. Profiling: a job that is being profiled gets nothing.
//  3. GPU type: the cluster has the type, and the job may use it. The number of GPUs fits on the number of nodes
//     that the configuration names.
//  4. Capacity: the jobs get no more GPUs of a type than its nodes have. The same holds for each node on which a job is
//     newly placed, and for CPUs and memory if the nodes count them. The shares of a placement add up to the
//     allocation.
//  5. Limits of the job: it gets between its minimum and maximum GPUs, in whole replicas. If its GPU count or its GPU
//     type is fixed, it does not change.
//  6. A non-preemptive job that holds GPUs keeps exactly these.
//  7. A job with a reservation gets exactly its reservation. It may get nothing in three cases: other
//     reservations and non-preemptive jobs leave too little room on the nodes that stay; the placer
//     found no room (Evicted); or the job waits for rented nodes or for their budget.
//  8. Batch size: it is the submitted one. If the job may adapt it, it is within the job's limits.
//  9. Groups of nodes (Plan.Capacity): a rented group has at most as many nodes as are offered. A lent group has
//     at most the nodes that are lent now and those that the owner can spare.
//  10. Returned nodes (Plan.Return) are on loan or rented. No job is placed on them.
//  11. Two GPU types: only a heterogeneous job gets two. It needs a placement. It must have neither a reservation
//     nor replicas of several GPUs, and neither type may count CPUs and memory. The job's limits hold for the number of GPUs that the
//     allocation is worth.
//
// GPUs of continuing jobs, which are left out of the snapshot, count as used. Check modifies nothing. Its time is
// linear in the jobs and in the shares of their placements.
func Check(s *Snapshot, p *Plan) error {
	if p == nil {
		return errors.New("plan: none")
	}
	if len(p.Jobs) != len(s.Jobs) {
		return fmt.Errorf("plan: %d decisions, want %d: one per job", len(p.Jobs), len(s.Jobs))
	}
	c := checker{cluster: s.Cluster, continuing: s.Continuing, types: s.Cluster.Types()}
	c.used, c.pinned = c.few[0][:], c.few[1][:]
	if len(c.types) > len(c.used) {
		c.used, c.pinned = make([]int, len(c.types)), make([]int, len(c.types))
	}
	if slices.ContainsFunc(c.types, func(t cluster.TypeInfo) bool { return t.Counts() }) {
		c.host = make([]cluster.Resources, len(c.types))
	}
	for i := range c.types {
		c.used[i] = s.Continuing.Of(i)
	}
	waiting := false
	for i, j := range s.Jobs {
		c.decision(j, &p.Jobs[i])
		waiting = waiting || !j.Reservation.IsZero() && p.Jobs[i].Allocation.IsZero()
	}
	if c.nodes != nil {
		c.kept(s, p)
	}
	if waiting {
		c.reservations(s, p)
	}
	for i, t := range c.types {
		if c.used[i] > t.GPUs {
			c.errs = append(c.errs, fmt.Errorf("GPU type %s: allocated %d GPUs, want at most %d", t.Type, c.used[i], t.GPUs))
		}
	}
	c.hosts()
	c.summary(p)
	c.capacity(s, p)
	return errors.Join(c.errs...)
}

func (c *checker) capacity(s *Snapshot, p *Plan) {
	known := 0
	for i := range s.Rentals {
		r := &s.Rentals[i]
		n, ok := p.Capacity[r.Group]
		if !ok {
			continue
		}
		if known++; n < 0 || n > r.Most {
			c.errs = append(c.errs, fmt.Errorf("group %s: %d nodes wanted, want 0 to %d", r.Group, n, r.Most))
		}
	}
	for i := range s.Loans {
		l := &s.Loans[i]
		n, ok := p.Capacity[l.Group]
		if !ok {
			continue
		}
		if known++; n < 0 || n > l.Lent+l.Spare {
			c.errs = append(c.errs, fmt.Errorf("group %s: %d nodes wanted, want 0 to %d", l.Group, n, l.Lent+l.Spare))
		}
	}
	if known < len(p.Capacity) {
		c.errs = append(c.errs, fmt.Errorf("plan: %d of the groups with wanted nodes can be neither rented nor lent", len(p.Capacity)-known))
	}
	c.returns(p)
}

func (c *checker) returns(p *Plan) {
	for i, id := range p.Return {
		n, ok := c.cluster.Index(id)
		switch {
		case !ok || c.cluster.Nodes()[n].Tenure == cluster.Owned:
			c.errs = append(c.errs, fmt.Errorf("node %s: returned, want only nodes on loan or rented", id))
		case i > 0 && p.Return[i-1] >= id:
			c.errs = append(c.errs, fmt.Errorf("node %s: returned after %s, want each node once, in ascending order", id, p.Return[i-1]))
		}
	}
	if len(p.Return) > 0 {
		c.vacated(p)
	}
}

func (c *checker) vacated(p *Plan) {
	for i := range p.Jobs {
		for _, share := range p.Jobs[i].Placement {
			if _, back := slices.BinarySearch(p.Return, share.Node); back {
				c.errs = append(c.errs, fmt.Errorf("node %s: returned, want no node with a job", share.Node))
			}
		}
	}
}

type checker struct {
	cluster    *cluster.Cluster
	continuing *Continuing
	types      []cluster.TypeInfo
	used       []int               // GPUs allocated, by type
	host       []cluster.Resources // CPUs and memory allocated, by type; nil until a type counts them
	pinned     []int               // by type: GPUs used by reservations and non-preemptive jobs
	final      bool                // a placer has confined the jobs to their nodes
	nodes      []cluster.Resources // by node: placed; nil until a job is placed on other nodes
	filter     [4]uint64           // hashes of those nodes
	few        [2][8]int           // buffer of used and pinned for few types
	errs       []error
}

func (c *checker) fail(j *Job, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("job %s: %w", j.ID, fmt.Errorf(format, args...)))
}

func (c *checker) decision(j *Job, d *Decision) {
	a := &d.Allocation
	if !finite(a.CPUs) || !finite(d.Why.Value) || !finite(d.Why.Limit) {
		c.fail(j, "%g CPUs, reason with %g and %g, want finite numbers", a.CPUs, d.Why.Value, d.Why.Limit)
	}
	held := j.NonPreemptive && j.Holding()
	if held && *a != j.Allocation {
		c.fail(j, "allocated %v with %g CPUs and %d bytes, want what it holds, %v with %g and %d: it is non-preemptive",
			*a, a.CPUs, a.Memory, j.Allocation, j.Allocation.CPUs, j.Allocation.Memory)
	}
	if a.GPUs == 0 {
		c.nothing(j, d)
		return
	}
	t, same := c.cluster.TypeIndex(a.GPUType), *a == j.Allocation // an unchanged allocation was checked when granted
	if (t < 0 || !same || j.Phase == job.Profiling) && !c.amount(j, a, t) {
		return
	}
	if a.Mixed() && !c.second(j, d, t) {
		return
	}
	c.count(a, t, held || !j.Reservation.IsZero())
	c.allowed(j, a, same, held)
	if d.Batch != (job.BatchSize{}) {
		c.batch(j, a, d.Batch)
	}
	if d.Placement != nil {
		c.placed(j, d)
	}
}

func (c *checker) nothing(j *Job, d *Decision) {
	if d.Allocation != (cluster.Allocation{}) || len(d.Placement) > 0 {
		c.fail(j, "allocated or placed %v with %d shares, want nothing without GPUs", d.Allocation, len(d.Placement))
	}
	if d.Why.Kind == Evicted && !j.Reservation.IsZero() {
		c.makeRoom(&j.Reservation)
	}
}

func (c *checker) count(a *cluster.Allocation, t int, pinned bool) {
	c.used[t] += a.GPUs
	if c.host != nil {
		c.host[t].CPUs += a.CPUs
		c.host[t].Memory += a.Memory
	}
	if pinned {
		c.pinned[t] += a.GPUs
	}
}

func (c *checker) allowed(j *Job, a *cluster.Allocation, same, held bool) {
	switch {
	case !j.Reservation.IsZero() && !held:
		if a.Configuration != j.Reservation || a.Mixed() {
			c.fail(j, "allocated %v, want its reservation %v", *a, j.Reservation)
		}
	case a.Mixed() && !same:
		c.worth(j, a)
	case !same:
		c.limits(j, a)
	}
}

const cpuSlack = 1e-9

func (c *checker) hosts() {
	for i, h := range c.host {
		t := &c.types[i]
		if t.Counts() && (h.CPUs > t.CPUs*(1+cpuSlack) || h.Memory > t.Memory) {
			c.errs = append(c.errs, fmt.Errorf("GPU type %s: allocated %g CPUs and %d bytes, want at most %g and %d", t.Type, h.CPUs, h.Memory, t.CPUs, t.Memory))
		}
	}
}

func (c *checker) makeRoom(r *cluster.Configuration) {
	if t := c.cluster.TypeIndex(r.GPUType); t >= 0 {
		c.pinned[t] += r.GPUs
	}
}

func (c *checker) amount(j *Job, a *cluster.Allocation, t int) bool {
	before := len(c.errs)
	if j.Phase == job.Profiling {
		c.fail(j, "allocated %v, want nothing while it is being profiled", a.Configuration)
	}
	if a.GPUs < 0 || a.CPUs < 0 || a.Memory < 0 {
		c.fail(j, "allocated %d GPUs, %g CPUs, %d bytes, want no negative amount", a.GPUs, a.CPUs, a.Memory)
		return false
	}
	if t < 0 {
		c.fail(j, "GPU type %q is not in the cluster", a.GPUType)
		return false
	}
	c.carried(j, a.Configuration, t)
	return len(c.errs) == before
}

func (c *checker) carried(j *Job, k cluster.Configuration, t int) {
	if !j.Eligible(k.GPUType) {
		c.fail(j, "GPU type %s is not eligible", k.GPUType)
	}
	info := &c.types[t]
	if k.Nodes < 1 || k.Nodes > info.Nodes || k.GPUs < k.Nodes || k.GPUs > k.Nodes*info.PerNode {
		c.fail(j, "configuration %v, want 1 to %d nodes with 1 to %d GPUs each", k, info.Nodes, info.PerNode)
	}
}

func (c *checker) limits(j *Job, a *cluster.Allocation) {
	if p := j.ReplicaGPUs(a.GPUType); a.GPUs%p != 0 {
		c.fail(j, "allocated %d GPUs, want a multiple of %d: whole replicas", a.GPUs, p)
	}
	if !j.Adaptivity.Has(job.GPUCount) {
		if want := j.Requested(a.GPUType); a.GPUs != want {
			c.fail(j, "allocated %d GPUs, want exactly %d", a.GPUs, want)
		}
	} else if least := j.Min(a.GPUType); a.GPUs < least {
		c.fail(j, "allocated %d GPUs, want at least %d", a.GPUs, least)
	} else if most := j.Most(a.GPUType); most > 0 && a.GPUs > most {
		c.fail(j, "allocated %d GPUs, want at most %d", a.GPUs, most)
	}
	c.sameType(j, a)
}

func (c *checker) sameType(j *Job, a *cluster.Allocation) {
	if !j.KeepsType(a.GPUType) {
		c.fail(j, "allocated GPU type %s, want %s, which it holds", a.GPUType, j.Allocation.GPUType)
	}
}

// KeepsType reports whether a plan may give the job GPUs of type t: the job holds that type or none, or may change
// its type.
func (j *Job) KeepsType(t cluster.GPUType) bool {
	if j.Adaptivity.Has(job.AnyGPUType) {
		return true
	}
	return !j.Holding() || j.Allocation.GPUType == t
}

func (c *checker) batch(j *Job, a *cluster.Allocation, b job.BatchSize) {
	if b.Local < 1 || b.Accumulation < 0 {
		c.fail(j, "batch of %d samples and %d accumulating passes, want at least 1 and 0", b.Local, b.Accumulation)
		return
	}
	l := j.BatchLimits()
	if most, ok := l.LocalMax[a.GPUType]; ok && b.Local > most {
		c.fail(j, "local batch %d, want at most %d on %s", b.Local, most, a.GPUType)
	}
	// Whole samples round the total up, by less than one a pass.
	passes := a.AllGPUs() / j.ReplicaGPUs(a.GPUType) * (b.Accumulation + 1)
	total, below := passes*b.Local, passes*(b.Local-1)
	if below < j.BatchSize && j.BatchSize <= total {
		return // as submitted
	}
	switch low := max(1, l.LocalMin); {
	case !j.Adaptivity.Has(job.BatchSizes):
		if j.BatchSize > 0 {
			c.fail(j, "batch of %d samples, want the submitted %d", total, j.BatchSize)
		}
	case b.Local < low:
		c.fail(j, "local batch %d, want at least %d", b.Local, low)
	case l.Max > 0 && below >= l.Max && b.Local > low:
		c.fail(j, "batch of %d samples, want at most %d", total, l.Max)
	}
}

// BatchLimits returns the limits on the job's batch size: Limits, or the limits of its Spec if nil.
func (j *Job) BatchLimits() *job.BatchLimits {
	if j.Limits != nil {
		return j.Limits
	}
	return &j.Spec.Batch
}

func (c *checker) reservations(s *Snapshot, p *Plan) {
	for i, j := range s.Jobs {
		d := &p.Jobs[i]
		if j.Reservation.IsZero() || !d.Allocation.IsZero() || j.Phase == job.Profiling || d.Why.Kind == Evicted {
			continue
		}
		if len(s.Rentals) > 0 && (d.Why.Kind == WaitNodes || d.Why.Kind == WaitBudget) {
			continue
		}
		t := c.cluster.TypeIndex(j.Reservation.GPUType)
		if t >= 0 && c.pinned[t]+j.Reservation.GPUs <= c.types[t].GPUs-p.Returned(s.Cluster, j.Reservation.GPUType) {
			c.fail(j, "allocated nothing, want its reservation %v", j.Reservation)
		}
	}
}

func (c *checker) summary(p *Plan) {
	for _, t := range p.Prices {
		if !finite(t.Price) || !finite(t.CPU) || !finite(t.Memory) {
			c.errs = append(c.errs, fmt.Errorf("GPU type %s: prices %g, %g of a core and %g of memory, want finite numbers", t.Type, t.Price, t.CPU, t.Memory))
		}
	}
	if st := p.Stats; !finite(st.Objective) || !finite(st.Bound) || !finite(st.Gap) {
		c.errs = append(c.errs, fmt.Errorf("plan: objective %g, bound %g, gap %g, want finite numbers", st.Objective, st.Bound, st.Gap))
	}
}

func finite(x float64) bool { return x-x == 0 }

func (c *checker) second(j *Job, d *Decision, t int) bool {
	k, before := &d.Allocation.Also, len(c.errs)
	u := c.cluster.TypeIndex(k.GPUType)
	switch {
	case u < 0:
		c.fail(j, "GPU type %q is not in the cluster", k.GPUType)
	case u == t:
		c.fail(j, "allocated %v, want a second GPU type, not %s again", d.Allocation, k.GPUType)
	case c.types[t].Counts() || c.types[u].Counts():
		c.fail(j, "allocated %v, want one GPU type: its nodes count CPUs and memory", d.Allocation)
	case !j.Adaptivity.Has(job.Heterogeneous) || j.GPUsPerReplica != nil:
		c.fail(j, "allocated %v, want one GPU type: it is not heterogeneous, or has replicas of several GPUs", d.Allocation)
	case d.Placement == nil:
		c.fail(j, "allocated %v without a placement, want one: placers do not divide a job between types", d.Allocation)
	default:
		c.carried(j, *k, u)
	}
	if len(c.errs) > before {
		return false
	}
	if c.used[u] += k.GPUs; j.NonPreemptive && j.Holding() {
		c.pinned[u] += k.GPUs
	}
	return true
}

func (c *checker) worth(j *Job, a *cluster.Allocation) {
	got, asked := j.Worth(a), max(1, j.GPUs)
	switch {
	case !j.Adaptivity.Has(job.GPUCount):
		if got != float64(asked) {
			c.fail(j, "allocated %v, worth %g GPUs, want exactly %d", *a, got, asked)
		}
	case !j.Enough(a):
		c.fail(j, "allocated %v, worth %g GPUs, want at least %d", *a, got, max(1, j.MinGPUs))
	case j.Spec.MaxGPUs > 0 && got > float64(j.Spec.MaxGPUs):
		c.fail(j, "allocated %v, worth %g GPUs, want at most %d", *a, got, j.Spec.MaxGPUs)
	}
	c.sameType(j, a)
}

func (c *checker) divided(j *Job, d *Decision) {
	k := &d.Allocation.Also
	if got := c.cluster.On(d.Placement, k.GPUType).GPUs(); got != k.GPUs {
		c.fail(j, "placed %d GPUs of type %s, want the %d allocated", got, k.GPUType, k.GPUs)
	}
}
