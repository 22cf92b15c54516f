package trace

import (
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/workload"
)

// synergyTable reads the traces of the Synergy simulator. Time zero is the
// trace's own. The model is the application; it runs for total_iters iterations
// on all of its GPUs, and one iteration of one GPU is one sample.
var synergyTable = table{
	format:   "synergy",
	comma:    ',',
	required: []string{"job_id", "model", "arrival_s", "total_iters", "gpus"},
	id:       "job_id",
	arrival:  synergyArrival,
}

// maxIterations bounds total_iters.
const maxIterations = maxSamples

// synergyArrival returns the job of a row.
func synergyArrival(r *row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.seconds("arrival_s"), Application: r.word("model")}
	if a.Application == "" {
		r.fail("model", "a name")
	}
	a.Spec = job.Spec{
		ID:         job.ID(r.id("job_id")),
		GPUs:       r.count("gpus", 1, maxCount),
		Adaptivity: job.Rigid,
	}
	a.Spec.Target = float64(r.count("total_iters", 1, maxIterations)) * float64(a.Spec.GPUs)
	return a, ""
}
