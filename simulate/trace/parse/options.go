package parse

import (
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/simulate/workload"
)

// A BadRow policy says what a reader does with a row it cannot use.
type BadRow uint8

// What to do with a bad row.
const (
	Fail BadRow = iota // yield the error and end
	Skip               // count it in the Summary and go on
)

// BadRowOf returns the policy called name: "fail" or "skip".
func BadRowOf(name string) (BadRow, error) {
	switch name {
	case "fail":
		return Fail, nil
	case "skip":
		return Skip, nil
	}
	return Fail, fmt.Errorf("bad-row policy %q, want fail or skip", name)
}

// String returns "fail" or "skip".
func (b BadRow) String() string {
	if b == Skip {
		return "skip"
	}
	return "fail"
}

// DefaultMaxLine is the longest line that is read unless Options say so, in bytes.
const DefaultMaxLine = 1 << 20 // bytes: a thousand times the longest row of the public traces

// Options says how to read a trace. The zero value is usable.
type Options struct {
	File     string // name of the input in messages; empty: "input"
	OnBadRow BadRow
	Limit    int // most arrivals to yield; 0: all
	MaxLine  int // longest line, or JSON element, in bytes; 0: 1 MiB
	// Start is time zero in formats that give calendar times (UTC); rows
	// submitted before it are dropped. Zero: the earliest submission of the
	// trace, for which the reader must hold all arrivals in memory.
	Start time.Time
	// Zone is that of calendar times without one, in the format slurm; nil: UTC, and the
	// Summary says so.
	Zone *time.Location
	// Check, if not nil, is called with every arrival before it is yielded. It may complete
	// the arrival. If it returns an error, the row is a bad one; a *FieldError says in which
	// field.
	Check func(*workload.Arrival) error
	// Summary, if not nil, is filled in while reading.
	Summary *Summary
}

// Validate returns an error that joins all errors.
func (o Options) Validate() error {
	var errs []error
	if o.OnBadRow > Skip {
		errs = append(errs, fmt.Errorf("bad-row policy %d, want %d (fail) or %d (skip)", o.OnBadRow, Fail, Skip))
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

// Filled returns o with its defaults filled in.
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

// An Error says what is wrong with an input, and where.
type Error struct {
	File    string
	Line    int // 1-based; 0: the file as a whole
	Column  int // 1-based field of the row, or byte of a JSON line; 0: the row as a whole
	Problem string
	Err     error // what caused it, if it is not the input's form
}

// Error returns "file:line:column: problem".
func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
}

// Unwrap returns what caused the error, or nil.
func (e *Error) Unwrap() error { return e.Err }
