package trace

import (
	"fmt"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// phillyTable reads the CSV derived from the Philly log (submit_s, run_s, gpus, vc), and synthetic Lyra
// traces with further columns (Lyra §7.1). Warm jobs get the queue workload.Warm.
var phillyTable = parse.Table{
	Format:   "philly",
	Comma:    ',',
	Required: []string{"submit_s", "run_s", "gpus"},
	ID:       "job_id",
	Arrival:  phillyArrival,
}

func phillyArrival(r *parse.Row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.Seconds("submit_s"), Duration: r.Seconds("run_s")}
	a.Spec = job.Spec{Queue: r.Word("vc"), GPUs: r.Count("gpus", 0, parse.MaxCount), Adaptivity: job.Rigid}
	if r.Has("job_id") {
		a.Spec.ID = job.ID(r.ID("job_id"))
	} else {
		a.Spec.ID = numbered(r.Index)
	}
	if r.Flag("warm") {
		a.Spec.Queue = workload.Warm
		r.O.Summary.Note("jobs already running at time 0, put into queue " + workload.Warm)
	}
	a.Bound, a.Spec.NoCheckpoint = r.Denies("fungible"), r.Denies("checkpoint")
	a.Heterogeneous = r.Flag("hetero")
	if r.Has("gpus_per_worker") {
		workers(r, &a.Spec)
	}
	if r.Flag("elastic") {
		elastic(r, &a.Spec)
	}
	return a, dropUnless(a)
}

func workers(r *parse.Row, s *job.Spec) {
	s.WorkerGPUs = r.Count("gpus_per_worker", 1, parse.MaxCount)
	if s.GPUs%s.WorkerGPUs != 0 {
		r.Fail("gpus", fmt.Sprintf("whole workers: a multiple of gpus_per_worker, %d", s.WorkerGPUs))
	}
}

// elastic sets the limits of a job on w_min to w_max workers, which may change during training. Source: Lyra
// §2.2.
func elastic(r *parse.Row, s *job.Spec) {
	for _, name := range []string{"w_min", "w_max", "gpus_per_worker"} {
		if !r.Has(name) {
			r.Fail("elastic", "0 in a file without column "+name)
			return
		}
	}
	least := r.Count("w_min", 1, parse.MaxCount)
	most := r.Count("w_max", least, parse.MaxCount)
	s.MinGPUs, s.MaxGPUs = least*s.WorkerGPUs, most*s.WorkerGPUs
	s.Adaptivity, s.Resizes = job.StrongScaling, true
	if s.GPUs < s.MinGPUs || s.GPUs > s.MaxGPUs {
		r.Fail("gpus", fmt.Sprintf("%d to %d (w_min to w_max workers)", s.MinGPUs, s.MaxGPUs))
	}
}

func numbered(index int) job.ID { return job.ID(fmt.Sprintf("job-%d", index)) }

func dropUnless(a workload.Arrival) string {
	switch {
	case a.Spec.GPUs == 0:
		return parse.DropNoGPUs
	case a.Duration == 0:
		return parse.DropNoTime
	}
	return ""
}
