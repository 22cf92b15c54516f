package trace

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// heliosTable reads cluster_log.csv of the Helios traces, with local times, and the traces of Acme, with offsets.
var heliosTable = parse.Table{
	Format:   HeliosFormat,
	Comma:    ',',
	Required: []string{"job_id", "gpu_num", "submit_time", "duration"},
	ID:       "job_id",
	Arrival:  heliosArrival,
}

func readHelios(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	return parse.SinceFirst(onlyArrivals(recordedHelios(r, o), o), o)
}

func heliosHistory(b *bufio.Reader, o parse.Options) (*History, error) {
	head, _ := b.Peek(parse.HeadBytes) // a read error occurs again later
	columns, err := heliosTable.Header(parse.FirstLine(bytes.TrimPrefix(head, parse.ByteOrderMark)), o)
	if err != nil || !columns.Has("start_time") {
		return nil, err
	}
	return recordedHistory(HeliosFormat, recordedHelios(b, o), o, true)
}

func recordedHelios(r io.Reader, o parse.Options) recordedSeq {
	return func(yield func(parse.Observed, error) bool) {
		var now parse.Observed
		t := heliosTable
		t.Arrival = func(r *parse.Row) (a workload.Arrival, drop string) {
			if a, drop = heliosArrival(r); drop == "" && r.Has("start_time") {
				now = heliosObserved(r, &a)
			}
			return a, drop
		}
		for a, err := range t.Read(r, o) {
			now.Arrival = a
			if !yield(now, err) {
				return
			}
		}
	}
}

func heliosObserved(r *parse.Row, a *workload.Arrival) parse.Observed {
	began := time.Unix(0, 0).UTC()
	if !r.O.Start.IsZero() {
		began = r.O.Start
	}
	o := parse.Observed{Submitted: began.Add(a.At)}
	if r.Has("node_num") {
		o.Nodes = r.Count("node_num", 0, parse.MaxCount)
	}
	if text := r.Word("start_time"); text == "" || text == "None" {
		r.O.Summary.Note(noteNoStart)
		return o
	}
	o.Started = began.Add(max(a.At, heliosTime(r, "start_time")))
	o.Ended = o.Started.Add(a.Duration)
	return o
}

const withOffset = "2006-01-02 15:04:05-07:00"

func heliosTime(r *parse.Row, name string) time.Duration {
	if len(r.Raw(name)) > len(time.DateTime) {
		return r.Instant(name, withOffset)
	}
	return r.Instant(name, time.DateTime)
}

func heliosDuration(r *parse.Row) time.Duration {
	start, end := r.Raw("start_time"), r.Raw("end_time")
	switch {
	case r.Raw("duration") != "":
		return r.Seconds("duration")
	case start == "" || start == "None" || end == "" || end == "None":
		return 0
	}
	return max(0, heliosTime(r, "end_time")-heliosTime(r, "start_time"))
}

func heliosArrival(r *parse.Row) (workload.Arrival, string) {
	a := workload.Arrival{At: heliosTime(r, "submit_time"), Duration: heliosDuration(r)}
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
		r.O.Summary.Note("jobs that ended as " + state + ", simulated with their observed running time")
	}
	return a, drop
}
