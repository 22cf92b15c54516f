package parse

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Reasons for dropping well-formed rows.
const (
	DropNoGPUs      = "jobs with 0 GPUs dropped"
	DropParts       = "jobs with parts of GPUs dropped"
	DropNoTime      = "jobs with no running time dropped"
	RepeatedHeaders = "repeated headers left out"
	DropEarlier     = "jobs submitted before the start dropped"
)

// Ignored begins the note about objects that are not jobs; their kind is appended.
const Ignored = "objects ignored, of kind "

// A Feed passes the jobs that a reader finds to the reader's caller. It limits and checks jobs, and handles bad rows by
// Options.OnBadRow.
type Feed struct {
	O     Options
	yield func(workload.Arrival, error) bool
	named bool // the format names its jobs, so names may repeat
	lines map[job.ID]int
	unfit error // the last error of Options.Check
}

// NewFeed returns a Feed that passes jobs to yield. named states that the format names its jobs, so that names may
// repeat; otherwise the reader numbers the jobs.
func NewFeed(o Options, format string, named bool, yield func(workload.Arrival, error) bool) *Feed {
	o.Summary.Format = format
	return &Feed{O: o, yield: yield, named: named, lines: make(map[job.ID]int)}
}

// Check calls Options.Check, if any.
func (f *Feed) Check(a *workload.Arrival) error {
	if f.O.Check == nil {
		return nil
	}
	f.unfit = f.O.Check(a)
	return f.unfit
}

// Accept passes job a to the caller, and reports whether to continue reading. A job with a repeated name is a bad row.
func (f *Feed) Accept(a workload.Arrival, line, column int, name string) bool {
	if f.named {
		if first, ok := f.lines[a.Spec.ID]; ok {
			return f.Reject(&Error{
				File: f.O.File, Line: line, Column: column,
				Problem: fmt.Sprintf("%s %s, want a name not used before: line %d has it", name, Quote(string(a.Spec.ID)), first),
			})
		}
		f.lines[a.Spec.ID] = line
	}
	f.O.Summary.Jobs++
	if !f.yield(a, nil) {
		return false
	}
	if f.O.Summary.Jobs != f.O.Limit {
		return true
	}
	if err := f.tooMany(); err != nil {
		f.Fail(err)
	}
	return false
}

// Reject handles the bad row with error err, and reports whether to continue reading. With OnBadRow Few, reading always
// ends at a job that Options.Check rejected.
func (f *Feed) Reject(err error) bool {
	refused := f.unfit != nil && errors.Is(err, f.unfit)
	if f.O.OnBadRow == Skip || f.O.OnBadRow == Few && !refused {
		f.O.Summary.skipped(err)
		return true
	}
	f.Fail(err)
	return false
}

// Fail ends the reading with an error.
func (f *Feed) Fail(err error) { f.yield(workload.Arrival{}, err) }

// Finish must be called at the end of the input, whose last line is number line. It yields an error if too few rows
// were usable.
func (f *Feed) Finish(line int) {
	switch s := f.O.Summary; {
	case s.Rows == 0:
		f.Fail(&Error{File: f.O.File, Line: line, Problem: "the file ends, want at least one job"})
	case s.Bad > 0 && s.Bad == s.Rows && f.O.OnBadRow == Few:
		f.Fail(s.BadRows[0])
	case s.Bad > 0 && s.Bad == s.Rows:
		f.Fail(&Error{File: f.O.File, Problem: fmt.Sprintf("all %d rows are bad; the first: %v", s.Bad, s.BadRows[0]), Err: s.BadRows[0]})
	default:
		if err := f.tooMany(); err != nil {
			f.Fail(err)
		}
	}
}

func (f *Feed) tooMany() error {
	s := f.O.Summary
	if f.O.OnBadRow != Few || float64(s.Bad) <= mostBad*float64(s.Rows) {
		return nil
	}
	also := fmt.Sprintf(" (%d of %d rows cannot be read; --on-bad-row skip leaves them out)", s.Bad, s.Rows)
	if e, ok := errors.AsType[*Error](s.BadRows[0]); ok {
		first := *e
		first.Problem += also
		return &first
	}
	return fmt.Errorf("%w%s", s.BadRows[0], also)
}

// SinceFirst returns the jobs with submission times relative to the earliest one, for which it holds the whole trace in
// memory. If Options.Start is set, it returns seq.
func SinceFirst(seq iter.Seq2[workload.Arrival, error], o Options) iter.Seq2[workload.Arrival, error] {
	if !o.Start.IsZero() {
		return seq
	}
	return func(yield func(workload.Arrival, error) bool) {
		all, err := Collect(seq)
		if err != nil {
			yield(workload.Arrival{}, err)
			return
		}
		var first time.Duration
		for i, a := range all {
			if i == 0 || a.At < first {
				first = a.At
			}
		}
		if o.Summary != nil && o.Summary.Dated {
			o.Summary.Began = time.Unix(0, 0).UTC().Add(first)
		}
		for _, a := range all {
			a.At -= first
			if !yield(a, nil) {
				return
			}
		}
	}
}

// Collect returns all jobs of a trace, or the first error.
func Collect(seq iter.Seq2[workload.Arrival, error]) ([]workload.Arrival, error) {
	var all []workload.Arrival
	for a, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// Sorted returns all jobs of a trace by time, then ID, or the first error.
func Sorted(seq iter.Seq2[workload.Arrival, error]) ([]workload.Arrival, error) {
	all, err := Collect(seq)
	slices.SortStableFunc(all, func(a, b workload.Arrival) int {
		if a.At != b.At {
			if a.At < b.At {
				return -1
			}
			return 1
		}
		return strings.Compare(string(a.Spec.ID), string(b.Spec.ID))
	})
	return all, err
}
