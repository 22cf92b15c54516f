package trace

import (
	"math"
	"strconv"
	"strings"

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

// gavelTable reads traces of the Gavel simulator: 7 columns (Philly's virtual clusters) or 10 (the physical
// cluster), tab-separated without a header, or CSV with these names. The job type is the application; there
// are no running times.
var gavelTable = parse.Table{
	Format:   "gavel",
	Comma:    ',',
	Required: []string{"job_type", "total_steps", "scale_factor", "arrival_s"},
	Bare: map[int][]string{
		7:  {"job_type", "command", "num_steps_arg", "needs_data_dir", "total_steps", "arrival_s", "scale_factor"},
		10: {"job_type", "command", "working_directory", "num_steps_arg", "needs_data_dir", "total_steps", "scale_factor", "priority_weight", "slo", "arrival_s"},
	},
	ID:      "job",
	Arrival: func(r *parse.Row) (workload.Arrival, string) { return stepsArrival(r), "" },
}

// stepsArrival returns a job that completes after total_steps steps with the batch size of its type. A step
// is a pass of one GPU, so their number does not depend on the GPUs. Source: public Gavel simulator, which
// gives each GPU its part of the steps.
func stepsArrival(r *parse.Row) workload.Arrival {
	a := workload.Arrival{At: r.Seconds("arrival_s"), Application: r.Word("job_type")}
	if a.Application == "" {
		r.Fail("job_type", "a name")
	}
	batch, ok := typeBatch(a.Application)
	if !ok {
		r.O.Summary.Note("jobs without a batch size in their type, counted as 1")
	}
	a.Spec = job.Spec{
		ID:         numbered(r.Index),
		GPUs:       r.Count("scale_factor", 1, parse.MaxCount),
		Target:     r.Number("total_steps") * float64(batch),
		Weight:     1,
		Adaptivity: job.Rigid,
	}
	a.Spec.BatchSize = batch * a.Spec.GPUs
	if a.Spec.BatchSize > parse.MaxSamples {
		r.Fail("scale_factor", "fewer GPUs or a smaller batch size")
	}
	if math.IsInf(a.Spec.Target, 0) {
		r.Fail("total_steps", "fewer steps or a smaller batch size")
	}
	if r.Has("job") {
		a.Spec.ID = job.ID(r.ID("job"))
	}
	if r.Has("priority_weight") {
		a.Spec.Weight = r.Number("priority_weight")
	}
	if r.Has("slo") && r.Raw("slo") != "" && !strings.HasPrefix(r.Raw("slo"), "-1") {
		r.Number("slo")
		r.O.Summary.Note("jobs with a deadline, which is ignored")
	}
	return a
}

func typeBatch(jobType string) (batch int, ok bool) {
	_, text, _ := strings.Cut(jobType, "(batch size ")
	batch, err := strconv.Atoi(strings.TrimSuffix(text, ")"))
	if err != nil || batch < 1 || batch > parse.MaxSamples {
		return 1, false
	}
	return batch, true
}
