package trace

import (
	"io"
	"iter"

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

// alibabaSpotTable reads job_info_df.csv of Alibaba's cluster-trace-gpu-v2026: jobs of equal workers, of high priority
// (HP) or spot.
var alibabaSpotTable = parse.Table{
	Format:   "alibaba-v2026",
	Comma:    ',',
	Required: []string{"job_name", "gpu_model", "gpu_request", "worker_num", "submit_time", "duration", "job_type"},
	ID:       "job_name",
	Arrival:  alibabaSpotArrival,
}

func readAlibabaSpot(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	return parse.SinceFirst(alibabaSpotTable.Read(r, o), o)
}

func alibabaSpotArrival(r *parse.Row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.Seconds("submit_time"), Duration: r.Seconds("duration")}
	each, workers := r.Amount("gpu_request", 1, parse.MaxCount), r.Count("worker_num", 0, parse.MaxCount)
	a.Spec = job.Spec{
		ID: job.ID(r.ID("job_name")), User: r.Word("organization"), Queue: r.Word("job_type"),
		GPUs: int(each) * workers, Adaptivity: job.Rigid, NonPreemptive: r.Raw("job_type") == "HP",
	}
	if model := r.Word("gpu_model"); model != "" {
		a.Spec.GPUTypes = []cluster.GPUType{cluster.GPUType(model)}
	}
	if workers > 1 {
		a.Spec.WorkerGPUs = int(each)
	}
	if r.Has("cpu_request") {
		a.Spec.CPUs = r.Amount("cpu_request", 1, parse.MaxCount) * float64(workers)
	}
	if each != float64(int(each)) {
		return a, parse.DropParts
	}
	return a, dropUnless(a)
}
