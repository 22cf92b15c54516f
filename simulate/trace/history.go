package trace

import (
	"bufio"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

// A History is what a cluster did with its jobs.
type History struct {
	Format string           // of the input
	Jobs   []parse.Observed // that ran, in the order of the input
	// Cluster is the nodes with GPUs, as a configuration names them: "a100:1x8,h200:2x8", by
	// type, then GPUs. Empty: the history does not say them.
	Cluster string
	Taken   time.Time // the latest time in the history
	Quotas  []Quota   // of Kueue's ClusterQueues, by name; nil: the history does not say them
}

// ReadHistory reads a recorded history in the format called name, or in the one that r looks
// like if name is empty. It may be packed with gzip. Arrivals count from Options.Start, or from
// the first submission; Options.Limit bounds the jobs. A nil History without an error is a trace
// that does not say what was observed: nothing but its beginning was read, and Options.Summary has its format. Errors of the
// input are of type *parse.Error.
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

// Observed reports whether the history says of some job when it started.
func (h *History) Observed() bool {
	return slices.ContainsFunc(h.Jobs, func(o parse.Observed) bool { return !o.Started.IsZero() })
}

// Recorded reports whether all inputs of a format say what was observed of jobs.
func Recorded(format string) bool { return format == slurm.Format || format == kubernetesFormat }

// slurmHistory reads accounting that is not packed.
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

// latest returns the later of two times.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
