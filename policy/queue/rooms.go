package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type rooms struct {
	cluster *cluster.Cluster // nil: unknown
	free    []int
	held    []tenant
	next    []tenant
	came    []cluster.Placement
}

// A tenant is a job and its placement. Placements are immutable: equal first shares mean equal
// placements.
type tenant struct {
	spec  *job.Spec
	where cluster.Placement
}

// stay keeps jobs that keep their GPUs on their nodes, so that no placer moves them.
func (r *line) stay(m *rooms) {
	m.next = m.next[:0]
	for i, j := range r.Snapshot.Jobs {
		if d := &r.Plan().Jobs[i]; len(j.Placement) > 0 && d.Allocation.SameGPUs(&j.Allocation) {
			m.next = append(m.next, tenant{j.Spec, j.Placement})
		}
	}
	switch continuing := r.Snapshot.Continuing; {
	case continuing != nil:
		m.settle(r.Snapshot.Cluster, continuing)
		m.cluster = nil // continuing may change it
	case !m.follow(r.Snapshot.Cluster):
		m.settle(r.Snapshot.Cluster, nil)
	}
	k := 0
	for i, j := range r.Snapshot.Jobs {
		if k < len(m.held) && m.held[k].spec == j.Spec {
			keep(j, &r.Plan().Jobs[i])
			k++
		}
	}
}

// follow applies the differences to the last round. If a job has no room, it returns false and m is
// invalid.
func (m *rooms) follow(c *cluster.Cluster) bool {
	if m.cluster != c {
		return false
	}
	m.came = m.came[:0]
	k := 0
	for _, t := range m.next {
		at := k
		for at < len(m.held) && !m.held[at].same(&t) {
			at++
		}
		if at == len(m.held) {
			m.came = append(m.came, t.where)
			continue
		}
		m.leave(m.held[k:at])
		k = at + 1
	}
	m.leave(m.held[k:])
	m.held, m.next = m.next, m.held
	for _, p := range m.came {
		if !fits(c, m.free, p) {
			m.cluster, m.next = nil, m.held
			return false
		}
	}
	return true
}

func (t *tenant) same(now *tenant) bool {
	return t.spec == now.spec && len(t.where) == len(now.where) && &t.where[0] == &now.where[0]
}

func (m *rooms) leave(gone []tenant) {
	for _, t := range gone {
		for _, s := range t.where {
			n, _ := m.cluster.Index(s.Node)
			m.free[n] += s.GPUs
		}
	}
}

func (m *rooms) settle(c *cluster.Cluster, continuing *policy.Continuing) {
	m.cluster, m.free, m.held = c, m.free[:0], nil
	for i := range c.Nodes() {
		m.free = append(m.free, c.Nodes()[i].Capacity.GPUs-continuing.On(i))
	}
	for _, t := range m.next {
		if fits(c, m.free, t.where) {
			m.held = append(m.held, t)
		} else {
			m.cluster = nil
		}
	}
}

// keep keeps a job in place with at most the granted CPUs and memory, because it may have been lent
// more.
func keep(j *policy.Job, d *policy.Decision) {
	granted := d.Allocation
	d.Allocation, d.Placement = j.Allocation, j.Placement
	if granted.CPUs >= j.Allocation.CPUs && granted.Memory >= j.Allocation.Memory {
		return
	}
	held := hostOf(j.Placement)
	cpus, memory := atMost(granted.CPUs, held.CPUs), atMost(float64(granted.Memory), float64(held.Memory))
	d.Placement = slices.Clone(j.Placement)
	for i := range d.Placement {
		share := &d.Placement[i]
		share.CPUs *= cpus
		share.Memory = int64(float64(share.Memory) * memory)
	}
	now := hostOf(d.Placement)
	d.Allocation.CPUs, d.Allocation.Memory = min(granted.CPUs, j.Allocation.CPUs), min(granted.Memory, j.Allocation.Memory)
	if held.CPUs > 0 || held.Memory > 0 { // otherwise its nodes do not count them
		d.Allocation.CPUs, d.Allocation.Memory = now.CPUs, now.Memory
	}
}

func hostOf(p cluster.Placement) (sum cluster.Resources) {
	for i := range p {
		sum.CPUs += p[i].CPUs
		sum.Memory += p[i].Memory
	}
	return sum
}

func atMost(granted, held float64) float64 {
	if held <= granted {
		return 1
	}
	return granted / held
}

func fits(c *cluster.Cluster, room []int, p cluster.Placement) bool {
	for k, s := range p {
		n, ok := c.Index(s.Node)
		if !ok || s.GPUs > room[n] {
			for _, back := range p[:k] {
				n, _ := c.Index(back.Node)
				room[n] += back.GPUs
			}
			return false
		}
		room[n] -= s.GPUs
	}
	return true
}

// A profile is the number of free GPUs of a type over time, as running jobs end.
type profile []step

// A step states that free GPUs are free from the time in on, counted from now. In the argument ends of newProfile, free
// is instead the number of GPUs that become free at in.
type step struct {
	in   time.Duration
	free int
}

func newProfile(free int, ends []step) profile {
	slices.SortStableFunc(ends, func(a, b step) int { return cmp.Compare(a.in, b.in) })
	p := profile{{0, free}}
	for _, e := range ends {
		free += e.free
		if last := &p[len(p)-1]; last.in == e.in {
			last.free = free
			continue
		}
		p = append(p, step{e.in, free})
	}
	return p
}

// earliest returns the earliest time, from now, from which the given number of GPUs is free for the duration lasts. ok
// is false if there is none.
func (p profile) earliest(gpus int, lasts time.Duration) (in time.Duration, ok bool) {
	from := -1
	for k, s := range p {
		switch {
		case from >= 0 && s.in >= p[from].in+lasts:
			return p[from].in, true
		case s.free < gpus:
			from = -1
		case from < 0:
			from = k
		}
	}
	if from < 0 {
		return 0, false
	}
	return p[from].in, true
}

func (p *profile) take(gpus int, in, lasts time.Duration) {
	first, last := p.cut(in), p.cut(in+lasts)
	for k := first; k < last; k++ {
		(*p)[k].free -= gpus
	}
}

func (p *profile) cut(in time.Duration) int {
	k, found := slices.BinarySearchFunc(*p, in, func(s step, in time.Duration) int { return cmp.Compare(s.in, in) })
	if !found {
		*p = slices.Insert(*p, k, step{in, (*p)[k-1].free})
	}
	return k
}

// Demand returns the GPUs that job j requests, with the CPUs and memory from which it gains no more speed. These are
// for the GPU type that j holds, or else for its fastest type. If no type can run j, Demand returns only GPUs. Source:
// Synergy §3.2, "Job demand vector".
func Demand(s *policy.Snapshot, j *policy.Job) cluster.Resources {
	t, _ := home(s, j)
	if t == nil {
		return cluster.Resources{GPUs: grant.Requested(j)}
	}
	a := grant.Gang(j, t)
	if t.Counts() {
		cells := grant.Cells(j, t, a.Configuration, (a.GPUs+a.Nodes-1)/a.Nodes)
		best := cells[len(cells)-1]
		a.CPUs, a.Memory = float64(a.GPUs)*best.CPUs, int64(a.GPUs)*best.Memory
	}
	return cluster.Resources{GPUs: a.GPUs, CPUs: a.CPUs, Memory: a.Memory}
}

// home returns the GPU type that j holds, or else its fastest, and its estimated goodput there; nil if none can run it.
func home(s *policy.Snapshot, j *policy.Job) (best *cluster.TypeInfo, fastest float64) {
	types := s.Cluster.Types()
	for i := range types {
		t := &types[i]
		if !grant.Usable(j, t) || j.Holding() && j.Allocation.GPUType != t.Type {
			continue
		}
		if v := grant.Goodput(j, grant.Gang(j, t)); best == nil || v > fastest {
			best, fastest = t, v
		}
	}
	return best, fastest
}
