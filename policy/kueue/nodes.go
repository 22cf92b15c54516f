package kueue

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A node is what is free of it, and what is asked for on it.
type node struct {
	cluster.Node
	free  cluster.Resources
	asked cluster.Resources // CPUs and memory, also where the node counts none
}

// occupy returns the nodes of a snapshot with what jobs hold of them under a plan.
func occupy(s *policy.Snapshot, p *policy.Plan) []node {
	all := make([]node, len(s.Cluster.Nodes()))
	for i, n := range s.Cluster.Nodes() {
		all[i] = node{Node: n, free: n.Capacity}
	}
	for i := range p.Jobs {
		for _, share := range p.Jobs[i].Placement {
			if n, ok := s.Cluster.Index(share.Node); ok {
				all[n].take(share.Resources, asks(s.Jobs[i], share.GPUs, p.Jobs[i].Allocation.GPUs))
			}
		}
	}
	return all
}

// take takes resources of a node, for pods that ask for so much.
func (n *node) take(what, asked cluster.Resources) {
	n.free = cluster.Resources{GPUs: n.free.GPUs - what.GPUs, CPUs: n.free.CPUs - what.CPUs, Memory: n.free.Memory - what.Memory}
	n.asked.CPUs += asked.CPUs
	n.asked.Memory += asked.Memory
	n.asked.GPUs += what.GPUs
}

// asks returns the CPUs and memory that a job asks for with some of its GPUs.
func asks(j *policy.Job, gpus, of int) cluster.Resources {
	return cluster.Resources{GPUs: gpus, CPUs: j.CPUs * float64(gpus) / float64(of), Memory: j.Memory / int64(of) * int64(gpus)}
}

// pods returns how many pods a job has, and the GPUs of each: as many as it has workers, or else as few as nodes of the type can carry.
func pods(j *policy.Job, t *cluster.TypeInfo) (n, gpus int) {
	size := grant.Size(j, t.Type)
	if w := j.WorkerGPUs; w > 0 && size%w == 0 {
		return size / w, w
	}
	n = (size + t.PerNode - 1) / t.PerNode
	for size%n != 0 {
		n++
	}
	return n, size / n
}

// bind returns the nodes of so many pods of a job, one after another; nil if they do not all fit. It takes nothing.
func bind(all []node, j *policy.Job, t *cluster.TypeInfo) []int {
	n, gpus := pods(j, t)
	what, asked := need(j, t, gpus, n*gpus), asks(j, gpus, n*gpus)
	var on []int
	for range n {
		at := least(all, t.Type, what)
		if at < 0 {
			break
		}
		all[at].take(what, asked)
		on = append(on, at)
	}
	back, none := negative(what), negative(asked)
	for _, at := range on {
		all[at].take(back, none)
	}
	if len(on) < n {
		return nil
	}
	return on
}

// negative returns what undoes a take.
func negative(r cluster.Resources) cluster.Resources {
	return cluster.Resources{GPUs: -r.GPUs, CPUs: -r.CPUs, Memory: -r.Memory}
}

// need returns what a pod takes of a node: the CPUs and memory that it asks for, or else the GPU-proportional share, where nodes
// count them.
func need(j *policy.Job, t *cluster.TypeInfo, gpus, of int) cluster.Resources {
	what := cluster.Resources{GPUs: gpus}
	if !t.Counts() {
		return what
	}
	what = asks(j, gpus, of)
	share := t.Proportional(cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: t.Type})
	what.CPUs, what.Memory = cmp.Or(what.CPUs, share.CPUs), cmp.Or(what.Memory, share.Memory)
	return what
}

// least returns the node of a type with room on which least is asked for, relative to what it has: CPUs, or GPUs where nobody asks for
// CPUs; -1: there is none. The first in the order of the cluster is taken where several are alike.
func least(all []node, t cluster.GPUType, what cluster.Resources) int {
	best := -1
	for i := range all {
		n := &all[i]
		if n.GPUType != t || n.free.GPUs < what.GPUs || n.free.CPUs < what.CPUs-1e-9 || n.free.Memory < what.Memory {
			continue
		}
		if best < 0 || busier(&all[best], n) {
			best = i
		}
	}
	return best
}

// busier reports whether more is asked for on a than on b.
func busier(a, b *node) bool {
	if a.asked.CPUs != b.asked.CPUs {
		return a.asked.CPUs > b.asked.CPUs
	}
	return float64(a.asked.GPUs)/float64(a.Capacity.GPUs) > float64(b.asked.GPUs)/float64(b.Capacity.GPUs)
}

// start grants a job pods on nodes.
func (r *round) start(i, t int, on []int) bool {
	j, info := r.Snapshot.Jobs[i], &r.Types[t]
	_, gpus := pods(j, info)
	what := need(j, info, gpus, len(on)*gpus)
	var where cluster.Placement
	for _, at := range on {
		k := slices.IndexFunc(where, func(s cluster.Share) bool { return s.Node == r.nodes[at].ID })
		if k < 0 {
			k = len(where)
			where = append(where, cluster.Share{Node: r.nodes[at].ID})
		}
		where[k].Resources = cluster.Resources{GPUs: where[k].GPUs + what.GPUs, CPUs: where[k].CPUs + what.CPUs, Memory: where[k].Memory + what.Memory}
	}
	where.Sort()
	a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: len(where), GPUs: gpus * len(on), GPUType: info.Type}}
	for _, s := range where {
		a.CPUs, a.Memory = a.CPUs+s.CPUs, a.Memory+s.Memory
	}
	if !r.Assign(i, t, a) {
		return false
	}
	r.Plan().Jobs[i].Placement = where
	for _, at := range on {
		r.nodes[at].take(what, asks(j, gpus, len(on)*gpus))
	}
	return true
}
