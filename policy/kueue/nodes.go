package kueue

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type node struct {
	cluster.Node
	free  cluster.Resources
	asked cluster.Resources // CPUs and memory, even if the node does not count them
}

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

func (n *node) take(what, asked cluster.Resources) {
	n.free = cluster.Resources{GPUs: n.free.GPUs - what.GPUs, CPUs: n.free.CPUs - what.CPUs, Memory: n.free.Memory - what.Memory}
	n.asked.CPUs += asked.CPUs
	n.asked.Memory += asked.Memory
}

func (n *node) room(what cluster.Resources) bool {
	return n.free.GPUs >= what.GPUs && n.free.CPUs >= what.CPUs-1e-9 && n.free.Memory >= what.Memory
}

func asks(j *policy.Job, gpus, of int) cluster.Resources {
	return cluster.Resources{GPUs: gpus, CPUs: j.CPUs * float64(gpus) / float64(of), Memory: j.Memory / int64(of) * int64(gpus)}
}

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

// bind binds the pods of a job, and starts it if all fit. Otherwise bound pods keep their nodes
// from later jobs.
func (r *round) bind(i, flavor int) {
	j := r.Snapshot.Jobs[i]
	for t := range r.Types {
		info := &r.Types[t]
		if r.closed[t] || !grant.Usable(j, info) || !r.flavored(j, flavor, info.Type) {
			continue
		}
		n, gpus := pods(j, info)
		what, asked := need(j, info, gpus, n*gpus), asks(j, gpus, n*gpus)
		var on []int
		for len(on) < n {
			at := pick(r.nodes, info, what, j.ID, len(on))
			if at < 0 {
				break
			}
			r.nodes[at].take(what, asked)
			on = append(on, at)
		}
		if len(on) == n && r.Free(t) >= n*gpus {
			r.start(i, t, on)
		}
		if len(on) > 0 {
			return
		}
	}
}

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

// pick returns the node for a pod: with room and the fewest requested CPUs, or if these are
// unknown, pseudo-randomly like kube-scheduler. -1: none has room.
func pick(all []node, t *cluster.TypeInfo, what cluster.Resources, of job.ID, pod int) int {
	var fit []int
	for i := range all {
		if n := &all[i]; n.GPUType == t.Type && n.room(what) {
			fit = append(fit, i)
		}
	}
	switch {
	case len(fit) == 0:
		return -1
	case t.Counts():
		return slices.MinFunc(fit, func(a, b int) int { return cmp.Compare(all[a].asked.CPUs, all[b].asked.CPUs) })
	}
	h := fnv.New64a()
	fmt.Fprint(h, of, pod)
	return fit[h.Sum64()%uint64(len(fit))]
}

func (r *round) start(i, t int, on []int) {
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
	if r.Assign(i, t, a) {
		r.Plan().Jobs[i].Placement = where
	}
}
