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

// shockwaveTable reads traces of the Shockwave simulator: 12 columns, tab-separated without a header, or CSV
// with these names. The class is "<job type>/<mode>", because such jobs change their batch size alike.
var shockwaveTable = parse.Table{
	Format:   "shockwave",
	Comma:    ',',
	Required: []string{"job_type", "total_steps", "scale_factor", "mode", "duration_s", "arrival_s"},
	Bare: map[int][]string{
		12: {"job_type", "command", "working_directory", "num_steps_arg", "needs_data_dir", "total_steps", "scale_factor", "mode", "priority_weight", "slo", "duration_s", "arrival_s"},
	},
	ID:      "job",
	Arrival: shockwaveArrival,
}

func shockwaveArrival(r *parse.Row) (workload.Arrival, string) {
	a := stepsArrival(r)
	a.Duration = r.Seconds("duration_s")
	mode, err := job.ParseScheduleMode(r.Raw("mode"))
	if err != nil || mode == job.Unscheduled || mode == job.Given {
		r.Fail("mode", "static, accordion or gns")
	}
	a.Spec.Schedule.Mode = mode
	a.Spec.Class = job.Class(a.Application + "/" + r.Raw("mode"))
	return a, ""
}
