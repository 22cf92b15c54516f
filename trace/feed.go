package trace

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/workload"
)

// Why well-formed rows are dropped; shared by several formats.
const (
	dropNoGPUs  = "jobs with 0 GPUs dropped"
	dropNoTime  = "jobs with no running time dropped"
	dropEarlier = "jobs submitted before the start dropped"
)

// A feed is where every reader's rows meet the options: it checks names, counts,
// limits, and passes arrivals on.
type feed struct {
	o     Options
	yield func(workload.Arrival, error) bool
	named bool           // the format names its jobs, so names may repeat
	lines map[job.ID]int // line of each name
}

// newFeed returns a feed to yield. Where the format does not name its jobs,
// the reader numbers them and nothing need be remembered.
func newFeed(o Options, format string, named bool, yield func(workload.Arrival, error) bool) *feed {
	o.Summary.Format = format
	return &feed{o: o, yield: yield, named: named, lines: make(map[job.ID]int)}
}

// check shows an arrival to the check of the options.
func (f *feed) check(a *workload.Arrival) error {
	if f.o.Check == nil {
		return nil
	}
	return f.o.Check(a)
}

// accept passes a on and reports whether to go on. A repeated name is a bad row.
func (f *feed) accept(a workload.Arrival, line, column int, name string) bool {
	if f.named {
		if first, ok := f.lines[a.Spec.ID]; ok {
			return f.reject(&Error{
				File: f.o.File, Line: line, Column: column,
				Problem: fmt.Sprintf("%s %s, want a name not used before: line %d has it", name, quote(string(a.Spec.ID)), first),
			})
		}
		f.lines[a.Spec.ID] = line
	}
	f.o.Summary.Jobs++
	return f.yield(a, nil) && f.o.Summary.Jobs != f.o.Limit
}

// reject handles a bad row and reports whether to go on.
func (f *feed) reject(err error) bool {
	if f.o.OnBadRow == Skip {
		f.o.Summary.skipped(err)
		return true
	}
	f.fail(err)
	return false
}

// fail ends the reading with an error.
func (f *feed) fail(err error) { f.yield(workload.Arrival{}, err) }

// finish ends the reading of the whole input: a trace without rows, or of
// which no row could be used, is an error.
func (f *feed) finish(line int) {
	switch s := f.o.Summary; {
	case s.Rows == 0:
		f.fail(&Error{File: f.o.File, Line: line, Problem: "the file ends, want at least one job"})
	case s.Bad > 0 && s.Bad == s.Rows:
		f.fail(&Error{File: f.o.File, Problem: fmt.Sprintf("all %d rows are bad; the first: %v", s.Bad, s.BadRows[0]), Err: s.BadRows[0]})
	}
}

// sinceFirst makes times relative to the earliest arrival, which takes the
// whole trace in memory; with a start in the options they already are
// relative to that.
func sinceFirst(seq iter.Seq2[workload.Arrival, error], o Options) iter.Seq2[workload.Arrival, error] {
	if !o.Start.IsZero() {
		return seq
	}
	return func(yield func(workload.Arrival, error) bool) {
		all, err := collect(seq)
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
		for _, a := range all {
			a.At -= first
			if !yield(a, nil) {
				return
			}
		}
	}
}

// collect returns all arrivals, or the first error.
func collect(seq iter.Seq2[workload.Arrival, error]) ([]workload.Arrival, error) {
	var all []workload.Arrival
	for a, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// Sorted collects the arrivals of seq and sorts them by time, then ID, so that
// permuting the rows of a trace that names its jobs changes nothing. It
// returns the first error of seq.
func Sorted(seq iter.Seq2[workload.Arrival, error]) ([]workload.Arrival, error) {
	all, err := collect(seq)
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
