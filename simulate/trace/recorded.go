package trace

import (
	"iter"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Recorded jobs of a reader: arrivals with the times of their starts and ends. Times count from the log's own zero.
type recordedSeq = iter.Seq2[parse.Observed, error]

// recording returns a Feed that passes the jobs of a reader on with the times in the Observed that it returns.
// The reader sets it before it calls Feed.Accept.
func recording(o parse.Options, format string, yield func(parse.Observed, error) bool) (*parse.Feed, *parse.Observed) {
	now := new(parse.Observed)
	return parse.NewFeed(o, format, true, func(a workload.Arrival, err error) bool {
		now.Arrival = a
		return yield(*now, err)
	}), now
}

func onlyArrivals(seq recordedSeq, o parse.Options) iter.Seq2[workload.Arrival, error] {
	return func(yield func(workload.Arrival, error) bool) {
		for job, err := range seq {
			if err == nil {
				o.Waited(&job)
			}
			if !yield(job.Arrival, err) {
				return
			}
		}
	}
}

// recordedHistory reads all recorded jobs. With fromFirst, arrivals count from the first one; see parse.SinceFirst.
func recordedHistory(format string, seq recordedSeq, o parse.Options, fromFirst bool) (*History, error) {
	h := &History{Format: format}
	arrivals := onlyArrivals(func(yield func(parse.Observed, error) bool) {
		for job, err := range seq {
			h.Jobs = append(h.Jobs, job)
			if !yield(job, err) {
				return
			}
		}
	}, o)
	if fromFirst {
		arrivals = parse.SinceFirst(arrivals, o)
	}
	all, err := parse.Collect(arrivals)
	if err != nil {
		return nil, err
	}
	for i := range all {
		h.Jobs[i].Arrival = all[i]
		h.Taken = latest(h.Taken, h.Jobs[i].Left())
	}
	return h, nil
}

const (
	noteNoStart      = "jobs without a start time in the log, not compared"
	noteEarlyStart   = "jobs that started before their submission, counted as not waiting"
	noteNoSubmission = "jobs submitted when they started, because the log does not state their submission"
)
