package trace

import (
	"io"
	"iter"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/trace/parse"
	"github.com/oxgang/oxgang/workload"
)

// heliosTable reads cluster_log.csv of the Helios traces. Times are the log's
// local ones; see Options.Start for time zero.
var heliosTable = parse.Table{
	Format:   "helios",
	Comma:    ',',
	Required: []string{"job_id", "gpu_num", "submit_time", "duration"},
	ID:       "job_id",
	Arrival:  heliosArrival,
}

// readHelios reads a Helios log.
func readHelios(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	return parse.SinceFirst(heliosTable.Read(r, o), o)
}

// heliosArrival returns the job of a row. Its duration is how long it ran, however it ended.
func heliosArrival(r *parse.Row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.Instant("submit_time", time.DateTime), Duration: r.Seconds("duration")}
	a.Spec = job.Spec{
		ID:         job.ID(r.ID("job_id")),
		User:       r.Word("user"),
		Queue:      r.Word("vc"),
		GPUs:       r.Count("gpu_num", 0, parse.MaxCount),
		Adaptivity: job.Rigid,
	}
	if r.Has("cpu_num") {
		a.Spec.CPUs = r.Amount("cpu_num", 1, parse.MaxCount)
	}
	if a.At < 0 {
		return a, parse.DropEarlier
	}
	drop := dropUnless(a)
	if state := r.Word("state"); drop == "" && state != "" && state != "COMPLETED" {
		r.O.Summary.Note("jobs that ended as " + state + ", run for as long as they did")
	}
	return a, drop
}
