package trace

import (
	"io"
	"iter"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

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
