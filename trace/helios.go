package trace

import (
	"io"
	"iter"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/workload"
)

// heliosTable reads cluster_log.csv of the Helios traces. Times are the log's
// local ones; see Options.Start for time zero.
var heliosTable = table{
	format:   "helios",
	comma:    ',',
	required: []string{"job_id", "gpu_num", "submit_time", "duration"},
	id:       "job_id",
	arrival:  heliosArrival,
}

// readHelios reads a Helios log.
func readHelios(r io.Reader, o Options) iter.Seq2[workload.Arrival, error] {
	return sinceFirst(heliosTable.read(r, o), o)
}

// heliosArrival returns the job of a row. However it ended, it runs for as
// long as it did.
func heliosArrival(r *row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.instant("submit_time", time.DateTime), Duration: r.seconds("duration")}
	a.Spec = job.Spec{
		ID:         job.ID(r.id("job_id")),
		User:       r.word("user"),
		Queue:      r.word("vc"),
		GPUs:       r.count("gpu_num", 0, maxCount),
		Adaptivity: job.Rigid,
	}
	if r.has("cpu_num") {
		a.Spec.CPUs = r.amount("cpu_num", 1, maxCount)
	}
	if a.At < 0 {
		return a, dropEarlier
	}
	drop := dropUnless(a)
	if state := r.word("state"); drop == "" && state != "" && state != "COMPLETED" {
		r.o.Summary.note("jobs that ended as " + state + ", run for as long as they did")
	}
	return a, drop
}
