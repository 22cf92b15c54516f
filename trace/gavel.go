package trace

import (
	"math"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/workload"
)

// gavelTable reads the traces of the Gavel simulator: 7 columns (the Philly
// virtual clusters) or 10 (the physical cluster), tab-separated without a
// header, or a CSV with a header of the same names. Time zero is the trace's
// own. The job type is the application; the format has no running times.
var gavelTable = table{
	format:   "gavel",
	comma:    ',',
	required: []string{"job_type", "total_steps", "scale_factor", "arrival_s"},
	bare: map[int][]string{
		7:  {"job_type", "command", "num_steps_arg", "needs_data_dir", "total_steps", "arrival_s", "scale_factor"},
		10: {"job_type", "command", "working_directory", "num_steps_arg", "needs_data_dir", "total_steps", "scale_factor", "priority_weight", "slo", "arrival_s"},
	},
	id:      "job",
	arrival: gavelArrival,
}

// gavelArrival returns the job of a row.
func gavelArrival(r *row) (workload.Arrival, string) { return stepsArrival(r), "" }

// stepsArrival returns what the Gavel and Shockwave formats have in common: a
// job that is complete after total_steps steps at the batch size in its type. A
// step is the pass of one GPU over that many samples, so that a job of more GPUs
// needs no more of them. Source: public Gavel simulator, which gives each GPU its
// part of the steps.
func stepsArrival(r *row) workload.Arrival {
	a := workload.Arrival{At: r.seconds("arrival_s"), Application: r.word("job_type")}
	if a.Application == "" {
		r.fail("job_type", "a name")
	}
	batch, ok := typeBatch(a.Application)
	if !ok {
		r.o.Summary.note("jobs whose type names no batch size, counted as 1")
	}
	a.Spec = job.Spec{
		ID:         numbered(r.index),
		GPUs:       r.count("scale_factor", 1, maxCount),
		Target:     r.number("total_steps") * float64(batch),
		Weight:     1,
		Adaptivity: job.Rigid,
	}
	a.Spec.BatchSize = batch * a.Spec.GPUs
	if a.Spec.BatchSize > maxSamples {
		r.fail("scale_factor", "fewer GPUs or a smaller batch size")
	}
	if math.IsInf(a.Spec.Target, 0) {
		r.fail("total_steps", "fewer steps or a smaller batch size")
	}
	if r.has("job") {
		a.Spec.ID = job.ID(r.id("job"))
	}
	if r.has("priority_weight") {
		a.Spec.Weight = r.number("priority_weight")
	}
	if r.has("slo") && r.raw("slo") != "" && !strings.HasPrefix(r.raw("slo"), "-1") {
		r.number("slo")
		r.o.Summary.note("jobs with a deadline, not carried over")
	}
	return a
}

// typeBatch returns the batch size in a job type like "ResNet-18 (batch size
// 32)", and 1 and not ok if it names none.
func typeBatch(jobType string) (batch int, ok bool) {
	_, text, _ := strings.Cut(jobType, "(batch size ")
	batch, err := strconv.Atoi(strings.TrimSuffix(text, ")"))
	if err != nil || batch < 1 || batch > maxSamples {
		return 1, false
	}
	return batch, true
}
