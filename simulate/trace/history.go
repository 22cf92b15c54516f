package trace

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
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

// ReadHistory reads a history in the format called name or, if name is empty, in a format that it recognises. r may be
// gzipped. Arrivals count from Options.Start, or from the first submission. If the trace states no starts and ends, it
// returns nil without an error and sets Summary.Format. Errors of the input have type *parse.Error.
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
