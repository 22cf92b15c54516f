package trace

import (
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// synergyTable reads traces of the Synergy simulator. The model is the application; an iteration of one GPU
// is one sample.
var synergyTable = parse.Table{
	Format:   "synergy",
	Comma:    ',',
	Required: []string{"job_id", "model", "arrival_s", "total_iters", "gpus"},
	ID:       "job_id",
	Arrival:  synergyArrival,
}

const maxIterations = parse.MaxSamples

func synergyArrival(r *parse.Row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.Seconds("arrival_s"), Application: r.Word("model")}
	if a.Application == "" {
		r.Fail("model", "a name")
	}
	a.Spec = job.Spec{
		ID:         job.ID(r.ID("job_id")),
		GPUs:       r.Count("gpus", 1, parse.MaxCount),
		Adaptivity: job.Rigid,
	}
	a.Spec.Target = float64(r.Count("total_iters", 1, maxIterations)) * float64(a.Spec.GPUs)
	return a, ""
}
