package trace

import (
	"bufio"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
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

// A History is the record of a cluster's jobs, as read from a file.
type History struct {
	Format string
	Jobs   []parse.Observed // jobs that ran, in the order of the input
	// Cluster is the nodes with GPUs as text for a configuration: "a100:1x8,h200:2x8". Empty: unknown.
	Cluster string
	Taken   time.Time // latest time in the history
	Quotas  []Quota   // quotas of Kueue's ClusterQueues, by name; nil: unknown
}

// ReadHistory reads a history in the format called name, or in a format that it recognises if name is empty. r may be
// gzipped. Arrivals count from Options.Start, or from the first submission. It returns nil, and sets Summary.Format, if
// the trace has no starts and ends. Errors of the input have type *parse.Error.
func ReadHistory(r io.Reader, name string, o parse.Options) (*History, error) {
	b, format, o, err := open(r, name, o)
	if err != nil {
		return nil, err
	}
	o.Summary.Format = format.Name
	if format.history == nil {
		return nil, nil
	}
	return format.history(b, o)
}

// Observed reports whether the history states when at least one job started.
func (h *History) Observed() bool {
	return slices.ContainsFunc(h.Jobs, func(o parse.Observed) bool { return !o.Started.IsZero() })
}

// Recorded reports whether every file of the format states when jobs started.
func Recorded(format string) bool {
	format, _, _ = strings.Cut(format, "@")
	return format == slurm.Format || format == kubernetesFormat
}

func slurmHistory(b *bufio.Reader, o parse.Options) (*History, error) {
	jobs, err := slurm.History(b, o)
	if err != nil {
		return nil, err
	}
	h := &History{Format: slurm.Format, Jobs: jobs}
	for i := range jobs {
		h.Taken = latest(h.Taken, jobs[i].Left())
	}
	return h, nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
