package trace

import (
	"fmt"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/workload"
)

// phillyTable reads the CSV derived from the Philly log (submit_s, run_s, gpus,
// vc) and its relatives, by header: the synthetic Lyra traces add job_id,
// elastic jobs (w_min to w_max workers of gpus_per_worker) and warm jobs, which
// go to the queue "warm". Time zero is the trace's own.
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
		a.Spec.Queue = "warm"
		r.o.Summary.note("jobs already running at time 0, put into queue warm")
	}
	if r.flag("elastic") {
		elastic(r, &a.Spec)
	}
	for _, name := range []string{"fungible", "hetero", "checkpoint"} {
		if r.flag(name) {
			r.o.Summary.note("jobs whose column " + name + " is 1, not carried over")
		}
	}
	return a, dropUnless(a)
}

// elastic sets the limits of a job that runs on w_min to w_max workers.
func elastic(r *row, s *job.Spec) {
	for _, name := range []string{"w_min", "w_max", "gpus_per_worker"} {
		if !r.has(name) {
			r.fail("elastic", "0 in a file without column "+name)
			return
		}
	}
	least, worker := r.count("w_min", 1, maxCount), r.count("gpus_per_worker", 1, maxCount)
	most := r.count("w_max", least, maxCount)
	s.MinGPUs, s.MaxGPUs, s.Adaptivity = least*worker, most*worker, job.StrongScaling
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
