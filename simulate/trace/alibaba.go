package trace

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// alibabaTable reads openb_pod_list_*.csv of the Alibaba GPU 2023 traces, with the trace's time zero. The
// class of service becomes the queue.
var alibabaTable = parse.Table{
	Format:   "alibaba",
	Comma:    ',',
	Required: []string{"name", "num_gpu", "gpu_milli", "creation_time", "scheduled_time", "deletion_time"},
	ID:       "name",
	Arrival:  alibabaArrival,
}

func alibabaArrival(r *parse.Row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.Seconds("creation_time")}
	a.Spec = job.Spec{
		ID:         job.ID(r.ID("name")),
		Queue:      r.Word("qos"),
		GPUs:       r.Count("num_gpu", 0, parse.MaxCount),
		Adaptivity: job.Rigid,
	}
	if r.Has("cpu_milli") {
		a.Spec.CPUs = r.Amount("cpu_milli", 1e-3, parse.MaxCount)
	}
	if r.Has("memory_mib") {
		a.Spec.Memory = int64(r.Amount("memory_mib", 1<<20, 1<<60))
	}
	for _, name := range append(r.List("gpu_spec", "|"), r.List("gpu_spec33", "|")...) {
		a.Spec.GPUTypes = append(a.Spec.GPUTypes, cluster.GPUType(name))
	}
	milli := r.Count("gpu_milli", 0, 1000)
	switch {
	case r.Err != nil || a.Spec.GPUs == 0:
		return a, parse.DropNoGPUs
	case r.Raw("scheduled_time") == "":
		return a, "pods never scheduled dropped"
	case r.Raw("deletion_time") == "":
		return a, "pods never deleted dropped"
	}
	from, to := r.Seconds("scheduled_time"), r.Seconds("deletion_time")
	if to <= from {
		return a, parse.DropNoTime
	}
	a.Duration = to - from
	if milli < 1000 {
		r.O.Summary.Note("pods with part of a GPU, counted as a whole GPU")
	}
	return a, ""
}
