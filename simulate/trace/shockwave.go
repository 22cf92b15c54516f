package trace

import (
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

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
