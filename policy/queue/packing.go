package queue

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A packing holds the free GPUs of each node, so that a job starts only if it fits on nodes. A job of at most a
// node gets the node with the fewest sufficient free GPUs. A larger one gets empty nodes, and such a node for its
// rest. Workers get nodes one by one.
//
// later has the free GPUs at the expected start of the first job that does not fit, without the GPUs of that job.
// A job that runs beyond this time needs GPUs that are free now and later. Nil: all jobs fit.
type packing struct {
	nodes  []cluster.Node
	types  []cluster.TypeInfo
	kind   []int // type, by node
	free   []int // GPUs, by node
	later  []int
	joined []int
}

// newPacking returns the packing of the jobs that keep their GPUs; nil if the nodes of one are unknown, or if nodes
// have other resources than GPUs to share.
func newPacking(r *grant.Round) *packing {
	s := r.Snapshot
	p := &packing{nodes: s.Cluster.Nodes(), types: r.Types}
	for i := range p.nodes {
		t := s.Cluster.TypeIndex(p.nodes[i].GPUType)
		if t < 0 || r.Types[t].Counts() {
			return nil
		}
		p.kind, p.free = append(p.kind, t), append(p.free, p.nodes[i].Capacity.GPUs-s.Continuing.On(i))
	}
	for i, j := range s.Jobs {
		a := &r.Plan().Jobs[i].Allocation
		if a.IsZero() {
			continue
		}
		if !a.SameGPUs(&j.Allocation) || j.Placement.GPUs() != a.AllGPUs() {
			return nil
		}
		p.add(s.Cluster, p.free, j.Placement, -1)
	}
	return p
}

func (p *packing) add(c *cluster.Cluster, free []int, at cluster.Placement, sign int) {
	for _, s := range at {
		if n, ok := c.Index(s.Node); ok {
			free[n] += sign * s.GPUs
		}
	}
}

func (p *packing) find(free []int, j *policy.Job, t int) cluster.Placement {
	gpus, size, unit := grant.Size(j, p.types[t].Type), p.types[t].PerNode, j.WorkerGPUs
	if unit > 0 && unit < size && gpus%unit == 0 && gpus > unit {
		return p.workers(free, t, gpus/unit, unit)
	}
	whole, rest := gpus/size, gpus%size
	var at cluster.Placement
	for n := 0; n < len(free) && whole > 0; n++ {
		if p.kind[n] == t && free[n] == size {
			at, whole = append(at, p.share(n, size)), whole-1
		}
	}
	if whole > 0 {
		return nil
	}
	if rest > 0 {
		n := p.tightest(free, t, rest, at)
		if n < 0 {
			return nil
		}
		at = append(at, p.share(n, rest))
	}
	at.Sort()
	return at
}

func (p *packing) share(n, gpus int) cluster.Share {
	return cluster.Share{Node: p.nodes[n].ID, Resources: cluster.Resources{GPUs: gpus}}
}

func (p *packing) tightest(free []int, t, gpus int, used cluster.Placement) int {
	best := -1
	for n, f := range free {
		if p.kind[n] != t || f < gpus || best >= 0 && f >= free[best] {
			continue
		}
		if !slices.ContainsFunc(used, func(s cluster.Share) bool { return s.Node == p.nodes[n].ID }) {
			best = n
		}
	}
	return best
}

func (p *packing) workers(free []int, t, count, unit int) cluster.Placement {
	left, on := slices.Clone(free), make(map[int]int)
	for range count {
		n := p.tightest(left, t, unit, nil)
		if n < 0 {
			return nil
		}
		left[n] -= unit
		on[n] += unit
	}
	var at cluster.Placement
	for n := range p.nodes {
		if on[n] > 0 {
			at = append(at, p.share(n, on[n]))
		}
	}
	at.Sort()
	return at
}

func (p *packing) both() []int {
	p.joined = p.joined[:0]
	for n, f := range p.free {
		p.joined = append(p.joined, max(0, min(f, p.later[n])))
	}
	return p.joined
}

// fit returns where job i may start now on type t. held: it fits, but would delay the first job that does not.
func (r *line) fit(i, t int) (at cluster.Placement, held bool) {
	p, j := r.packed, r.Snapshot.Jobs[i]
	if at = p.find(p.free, j, t); at == nil || !r.outlasts(i, t) {
		return at, false
	}
	at = p.find(p.both(), j, t)
	return at, at == nil
}

func (r *line) outlasts(i, t int) bool {
	if r.head == nil || r.head.t != t {
		return false
	}
	took, known := r.lasts(i, t)
	return !known || took > r.head.in
}

func (r *line) settle(i, t int) {
	p, d := r.packed, &r.Plan().Jobs[i]
	at, _ := r.fit(i, t)
	p.add(r.Snapshot.Cluster, p.free, at, -1)
	if r.outlasts(i, t) {
		p.add(r.Snapshot.Cluster, p.later, at, -1)
	}
	d.Placement, d.Allocation.Nodes = at, len(at)
}

func (r *line) expect(i int) {
	p, j := r.packed, r.Snapshot.Jobs[i]
	for t := range r.Types {
		if !grant.Usable(j, &r.Types[t]) {
			continue
		}
		in, later := r.fits(j, t)
		took, _ := r.lasts(i, t)
		if later != nil && (r.head == nil || in+took < r.head.in+r.head.lasts) {
			r.head, p.later = &reservation{t: t, in: in, lasts: took, gpus: grant.Size(j, r.Types[t].Type)}, later
		}
	}
	if r.head != nil {
		r.reserved++
	}
}

// fits returns when a job fits on type t as running jobs end, and the free GPUs then without the GPUs of the job;
// nil: never. More free GPUs never make a job unfit, so the search is binary.
func (r *line) fits(j *policy.Job, t int) (time.Duration, []int) {
	p := r.packed
	ends := r.ends(t)
	after := func(k int) []int { // the first k have ended
		later := slices.Clone(p.free)
		for _, e := range ends[:k] {
			p.add(r.Snapshot.Cluster, later, e.at, 1)
		}
		return later
	}
	k := sort.Search(len(ends)+1, func(k int) bool { return p.find(after(k), j, t) != nil })
	if k == 0 || k > len(ends) {
		return 0, nil
	}
	in := ends[k-1].in
	for k < len(ends) && ends[k].in == in {
		k++
	}
	later := after(k)
	p.add(r.Snapshot.Cluster, later, p.find(later, j, t), -1)
	return in, later
}

type ending struct {
	in time.Duration
	at cluster.Placement
}

func (r *line) ends(t int) []ending {
	var all []ending
	for i, j := range r.Snapshot.Jobs {
		d := &r.Plan().Jobs[i]
		if d.Allocation.IsZero() || d.Allocation.GPUType != r.Types[t].Type {
			continue
		}
		at := d.Placement
		if len(at) == 0 {
			at = j.Placement
		}
		all = append(all, ending{r.endsIn(i), at})
	}
	slices.SortStableFunc(all, func(a, b ending) int { return cmp.Compare(a.in, b.in) })
	return all
}
