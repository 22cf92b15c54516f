package parse

import (
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/simulate/workload"
)

// A BadRow selects what a reader does with a row that it cannot use.
type BadRow uint8

// The choices.
const (
	Fail BadRow = iota // yield the error and end
	Skip               // count it in the Summary and continue
	Few                // like Skip, but an error at the end if more than 1 % of the rows are bad
)

// mostBad is the largest share of bad rows with Few.
const mostBad = 0.01

// BadRowOf parses "few", "fail" or "skip".
func BadRowOf(name string) (BadRow, error) {
	switch name {
	case "fail":
		return Fail, nil
	case "skip":
		return Skip, nil
	case "few":
		return Few, nil
	}
	return Fail, fmt.Errorf("bad-row policy %q, want few, fail or skip", name)
}

func (b BadRow) String() string {
	switch b {
	case Skip:
		return "skip"
	case Few:
		return "few"
	case Fail:
	}
	return "fail"
}

// DefaultMaxLine is the default of Options.MaxLine.
const DefaultMaxLine = 1 << 20 // bytes: 1,000 times the longest row of the public traces

// Options configure how a trace is read. The zero value is usable.
type Options struct {
	File     string // name of the input in messages; empty: "input"
	OnBadRow BadRow
	Limit    int // maximum number of arrivals; 0: all
	MaxLine  int // longest line, or JSON element, in bytes; 0: 1 MiB
	// Start is time zero for formats with calendar times (UTC); earlier rows are dropped. Zero: the earliest
	// submission.
	Start time.Time
	// Zone is the zone of calendar times without one, for format slurm; nil: UTC, with a note in the Summary.
	Zone *time.Location
	// Cluster, for format slurm, selects the rows of one cluster; empty: all rows.
	Cluster string
	// Mapping, if not nil, states what the columns of the input mean; the format is then not detected.
	Mapping *Mapping
	// Wait, if not nil, receives the wait of each job whose submission and start the trace states.
	Wait func(time.Duration)
	// Check, if not nil, checks and may complete every arrival. An error makes the row bad; a *FieldError names the
	// field.
	Check func(*workload.Arrival) error
	// Summary, if not nil, is filled in while reading.
	Summary *Summary
}

// Validate returns an error that joins all errors.
func (o Options) Validate() error {
	var errs []error
	if o.OnBadRow > Few {
		errs = append(errs, fmt.Errorf("bad-row policy %d, want %d (fail), %d (skip) or %d (few)", o.OnBadRow, Fail, Skip, Few))
	}
	if o.Limit < 0 {
		errs = append(errs, fmt.Errorf("limit %d, want at least 0", o.Limit))
	}
	if o.MaxLine < 0 {
		errs = append(errs, fmt.Errorf("longest line %d bytes, want at least 0", o.MaxLine))
	}
	if y := o.Start.Year(); !o.Start.IsZero() && (y < FirstYear || y > LastYear) {
		errs = append(errs, fmt.Errorf("start in year %d, want %d to %d", y, FirstYear, LastYear))
	}
	return errors.Join(errs...)
}

// Filled returns the options with defaults in place of zero values.
func (o Options) Filled() Options {
	if o.File == "" {
		o.File = "input"
	}
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.Summary == nil {
		o.Summary = new(Summary)
	}
	return o
}

// An Error is an error in an input file, with its line and column.
type Error struct {
	File    string
	Line    int // 1-based; 0: the whole file
	Column  int // 1-based field of the row, or byte of a JSON line; 0: the whole row
	Problem string
	Err     error // cause, if it is not the form of the input
	// Mapping suggests a mapping file, if the input may be a table of no known format.
	Mapping string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
}

func (e *Error) Unwrap() error { return e.Err }
