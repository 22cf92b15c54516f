package multifactor

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A want is what a job asks for on one GPU type: so much of each of so many nodes.
type want struct {
	t     int // GPU type
	info  *cluster.TypeInfo
	job   *policy.Job
	size  int // GPUs in all
	nodes int
	each  cluster.Resources // at most: some nodes have a GPU less where they do not divide
}

// wantOf returns what a job wants of a type; not ok: it may not run there. Where its GPUs do not divide by its nodes,
// each of these must have the largest part.
func wantOf(j *policy.Job, t int, info *cluster.TypeInfo) (w want, ok bool) {
	if !grant.Usable(j, info) {
		return w, false
	}
	w = want{t: t, info: info, job: j, size: grant.Size(j, info.Type)}
	w.nodes = (w.size + info.PerNode - 1) / info.PerNode
	if n := j.WorkerGPUs; n > 0 && w.size%n == 0 && n <= info.PerNode && w.size/n <= info.Nodes {
		w.nodes = w.size / n
	}
	w.each = w.with((w.size + w.nodes - 1) / w.nodes)
	return w, true
}

// with returns what the job wants of a node of which it has so many GPUs: CPUs and memory that it asks for, by node, or else the
// GPU-proportional share.
func (w *want) with(gpus int) cluster.Resources {
	what := cluster.Resources{GPUs: gpus}
	if !w.info.Counts() {
		return what
	}
	share := w.info.Proportional(cluster.Configuration{GPUs: gpus})
	what.CPUs, what.Memory = w.job.CPUs/float64(w.nodes), w.job.Memory/int64(w.nodes)
	if what.CPUs == 0 {
		what.CPUs = share.CPUs
	}
	if what.Memory == 0 {
		what.Memory = share.Memory
	}
	return what
}

// allocation returns what a job is granted: the sum of its shares.
func (w *want) allocation() cluster.Allocation {
	a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: w.nodes, GPUs: w.size, GPUType: w.info.Type}}
	for k := range w.nodes {
		share := w.share(k)
		a.CPUs, a.Memory = a.CPUs+share.CPUs, a.Memory+share.Memory
	}
	return a
}

// share returns what node k of those of a job gives it.
func (w *want) share(k int) cluster.Resources {
	gpus := w.size / w.nodes
	if k < w.size%w.nodes {
		gpus++
	}
	return w.with(gpus)
}
