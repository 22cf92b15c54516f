package trace

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/workload"
)

// alibabaTable reads openb_pod_list_*.csv of the Alibaba GPU 2023 traces. Time
// zero is the trace's own. The class of service becomes the queue.
var alibabaTable = table{
	format:   "alibaba",
	comma:    ',',
	required: []string{"name", "num_gpu", "gpu_milli", "creation_time", "scheduled_time", "deletion_time"},
	id:       "name",
	arrival:  alibabaArrival,
}

// alibabaArrival returns the pod of a row as a job that runs from scheduling to
// deletion.
func alibabaArrival(r *row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.seconds("creation_time")}
	a.Spec = job.Spec{
		ID:         job.ID(r.id("name")),
		Queue:      r.word("qos"),
		GPUs:       r.count("num_gpu", 0, maxCount),
		Adaptivity: job.Rigid,
	}
	if r.has("cpu_milli") {
		a.Spec.CPUs = r.amount("cpu_milli", 1e-3, maxCount)
	}
	if r.has("memory_mib") {
		a.Spec.Memory = int64(r.amount("memory_mib", 1<<20, 1<<60))
	}
	for _, name := range append(r.list("gpu_spec", "|"), r.list("gpu_spec33", "|")...) {
		a.Spec.GPUTypes = append(a.Spec.GPUTypes, cluster.GPUType(name))
	}
	milli := r.count("gpu_milli", 0, 1000)
	switch {
	case r.err != nil || a.Spec.GPUs == 0:
		return a, dropNoGPUs
	case r.raw("scheduled_time") == "":
		return a, "pods never scheduled dropped"
	case r.raw("deletion_time") == "":
		return a, "pods never deleted dropped"
	}
	from, to := r.seconds("scheduled_time"), r.seconds("deletion_time")
	if to <= from {
		return a, dropNoTime
	}
	a.Duration = to - from
	if milli < 1000 {
		r.o.Summary.note("pods with a share of a GPU, given a whole one")
	}
	return a, ""
}
