package multifactor

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A want is what a job asks for on one GPU type: so much of each of so many nodes.
type want struct {
	t     int // GPU type
	info  *cluster.TypeInfo
	size  int // GPUs in all
	nodes int
	each  cluster.Resources
}

// wantOf returns what a job wants of a type; not ok: it may not run there. Where its GPUs do not divide by its nodes,
// each of these must have the largest part.
func wantOf(j *policy.Job, t int, info *cluster.TypeInfo) (w want, ok bool) {
	if !grant.Usable(j, info) {
		return w, false
	}
	w = want{t: t, info: info, size: grant.Size(j, info.Type)}
	w.nodes = (w.size + info.PerNode - 1) / info.PerNode
	if n := j.WorkerGPUs; n > 0 && w.size%n == 0 && n <= info.PerNode && w.size/n <= info.Nodes {
		w.nodes = w.size / n
	}
	w.each.GPUs = (w.size + w.nodes - 1) / w.nodes
	if info.Counts() {
		w.each.CPUs, w.each.Memory = hostOf(j, &w)
	}
	return w, true
}

// hostOf returns the CPUs and memory that a job wants of each node: what it asks for, or else the GPU-proportional share.
func hostOf(j *policy.Job, w *want) (cpus float64, memory int64) {
	share := w.info.Proportional(cluster.Configuration{GPUs: w.each.GPUs})
	cpus, memory = j.CPUs/float64(w.nodes), j.Memory/int64(w.nodes)
	if cpus == 0 {
		cpus = share.CPUs
	}
	if memory == 0 {
		memory = share.Memory
	}
	return cpus, memory
}

// allocation returns what a job is granted.
func (w *want) allocation() cluster.Allocation {
	return cluster.Allocation{
		Configuration: cluster.Configuration{Nodes: w.nodes, GPUs: w.size, GPUType: w.info.Type},
		CPUs:          float64(w.nodes) * w.each.CPUs, Memory: int64(w.nodes) * w.each.Memory,
	}
}

// share returns how many GPUs node k of those of a job has.
func (w *want) share(k int) int {
	gpus := w.size / w.nodes
	if k < w.size%w.nodes {
		gpus++
	}
	return gpus
}
