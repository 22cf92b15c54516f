package trace

import (
	"fmt"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/workload"
)

// phillyTable reads the CSV derived from the Philly log (submit_s, run_s, gpus,
// vc) and its relatives, by header: the synthetic Lyra traces add job_id, the
// GPUs of a worker, the kinds of jobs of Lyra §7.1, and warm jobs, which go to
// the queue workload.Warm. Time zero is the trace's own.
var phillyTable = table{
	format:   "philly",
	comma:    ',',
	required: []string{"submit_s", "run_s", "gpus"},
	id:       "job_id",
	arrival:  phillyArrival,
}

// phillyArrival returns the job of a row.
func phillyArrival(r *row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.seconds("submit_s"), Duration: r.seconds("run_s")}
	a.Spec = job.Spec{Queue: r.word("vc"), GPUs: r.count("gpus", 0, maxCount), Adaptivity: job.Rigid}
	if r.has("job_id") {
		a.Spec.ID = job.ID(r.id("job_id"))
	} else {
		a.Spec.ID = numbered(r.index)
	}
	if r.flag("warm") {
		a.Spec.Queue = workload.Warm
		r.o.Summary.note("jobs already running at time 0, put into queue " + workload.Warm)
	}
	a.Bound, a.Spec.NoCheckpoint = r.denies("fungible"), r.denies("checkpoint")
	a.Heterogeneous = r.flag("hetero")
	if r.has("gpus_per_worker") {
		workers(r, &a.Spec)
	}
	if r.flag("elastic") {
		elastic(r, &a.Spec)
	}
	return a, dropUnless(a)
}

// workers sets the GPUs of one worker.
func workers(r *row, s *job.Spec) {
	s.WorkerGPUs = r.count("gpus_per_worker", 1, maxCount)
	if s.GPUs%s.WorkerGPUs != 0 {
		r.fail("gpus", fmt.Sprintf("whole workers: a multiple of gpus_per_worker, %d", s.WorkerGPUs))
	}
}

// elastic sets the limits of a job that runs on w_min to w_max workers, which come and go
// while it trains. Source: Lyra §2.2.
func elastic(r *row, s *job.Spec) {
	for _, name := range []string{"w_min", "w_max", "gpus_per_worker"} {
		if !r.has(name) {
			r.fail("elastic", "0 in a file without column "+name)
			return
		}
	}
	least := r.count("w_min", 1, maxCount)
	most := r.count("w_max", least, maxCount)
	s.MinGPUs, s.MaxGPUs = least*s.WorkerGPUs, most*s.WorkerGPUs
	s.Adaptivity, s.Resizes = job.StrongScaling, true
	if s.GPUs < s.MinGPUs || s.GPUs > s.MaxGPUs {
		r.fail("gpus", fmt.Sprintf("%d to %d, those of w_min to w_max workers", s.MinGPUs, s.MaxGPUs))
	}
}

// numbered returns the ID of a job whose format does not name it, by row.
func numbered(index int) job.ID { return job.ID(fmt.Sprintf("job-%d", index)) }

// dropUnless returns why an arrival is no job to schedule, or "".
func dropUnless(a workload.Arrival) string {
	switch {
	case a.Spec.GPUs == 0:
		return dropNoGPUs
	case a.Duration == 0:
		return dropNoTime
	}
	return ""
}
