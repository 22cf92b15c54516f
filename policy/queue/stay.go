package queue

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A rooms is how many GPUs each node has left beside the jobs that kept their nodes in the last round.
// From round to round few differ.
type rooms struct {
	cluster *cluster.Cluster // nil: nothing is known
	free    []int            // by node
	held    []tenant         // in the order of the snapshot
	next    []tenant         // of the present round
	came    []cluster.Placement
}

// A tenant is a job and where it is. Placements are never changed: one with the same first share is the same.
type tenant struct {
	spec  *job.Spec
	where cluster.Placement
}

// stay gives the jobs that keep their GPUs the nodes on which they have them, so that a placer
// moves none of them, to make room or to use CPUs and memory better. Where a node has gone, or has
// fewer GPUs than it had, its jobs are left to the placer.
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
		m.cluster = nil // what continuing may change
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

// follow takes up who came and went since the last round, and reports whether all have room. If not,
// nothing is known any more.
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

// same reports whether t is as it was.
func (t *tenant) same(now *tenant) bool {
	return t.spec == now.spec && len(t.where) == len(now.where) && &t.where[0] == &now.where[0]
}

// leave takes back the GPUs of tenants that have gone.
func (m *rooms) leave(gone []tenant) {
	for _, t := range gone {
		for _, s := range t.where {
			n, _ := m.cluster.Index(s.Node)
			m.free[n] += s.GPUs
		}
	}
}

// settle gives all tenants room anew beside the jobs that continue, in their order: those that have none are left out, and nothing
// is known of the next round.
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

// keep lets a job go on where it is. Of CPUs and memory it keeps what it holds there, at most what it is
// granted: it may have been lent those of others.
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
	if held.CPUs > 0 || held.Memory > 0 { // else its nodes do not count them
		d.Allocation.CPUs, d.Allocation.Memory = now.CPUs, now.Memory
	}
}

// hostOf adds up the CPUs and the memory of a placement.
func hostOf(p cluster.Placement) (sum cluster.Resources) {
	for i := range p {
		sum.CPUs += p[i].CPUs
		sum.Memory += p[i].Memory
	}
	return sum
}

// atMost returns the part of what is held that is granted.
func atMost(granted, held float64) float64 {
	if held <= granted {
		return 1
	}
	return granted / held
}

// fits takes a placement's GPUs from the room on the nodes of c, and reports whether there were
// as many.
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
