package multifactor

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type want struct {
	t     int
	info  *cluster.TypeInfo
	job   *policy.Job
	size  int // GPUs in total
	nodes int
	each  cluster.Resources // the largest share; some nodes have one GPU less if the division has a remainder
}

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

func (w *want) allocation() cluster.Allocation {
	a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: w.nodes, GPUs: w.size, GPUType: w.info.Type}}
	for k := range w.nodes {
		share := w.share(k)
		a.CPUs, a.Memory = a.CPUs+share.CPUs, a.Memory+share.Memory
	}
	return a
}

func (w *want) share(k int) cluster.Resources {
	gpus := w.size / w.nodes
	if k < w.size%w.nodes {
		gpus++
	}
	return w.with(gpus)
}
