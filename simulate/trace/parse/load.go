package parse

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/workload"
)

var loadTable = Table{Format: "load", Comma: ',', Required: []string{loadTime, loadBusy}}

const (
	loadTime = "t_s"       // start of the interval, in seconds since the start of the trace
	loadBusy = "busy_frac" // share of the GPUs that serve at least one request

	minLoadStep  = time.Second
	maxLoadStep  = 24 * time.Hour
	maxIntervals = 1_000_000 // nine years of 5 minutes
)

// ReadLoad reads the load curve of an inference cluster from CSV, possibly gzipped, with the columns t_s and busy_frac.
// It needs at least two rows at equal distances from a second to a day, the first at 0. Errors have type *Error, with
// the name file.
func ReadLoad(r io.Reader, file string) (*workload.Load, error) {
	o := Options{File: file}.Filled()
	b, err := Unpacked(r, o)
	if err != nil {
		return nil, err
	}
	in := NewLines(b, o)
	first, err := in.Next()
	if errors.Is(err, io.EOF) {
		return nil, &Error{File: o.File, Problem: "empty file, want a header and at least two rows"}
	}
	if err != nil {
		return nil, err
	}
	h, err := loadTable.Header(string(first), o)
	if err != nil {
		return nil, err
	}
	return readLoad(in, NewRow(o, h))
}

func readLoad(in *Lines, r *Row) (*workload.Load, error) {
	l := &workload.Load{}
	for {
		line, err := in.Next()
		r.Line = in.Number
		switch {
		case errors.Is(err, io.EOF) && len(l.Busy) < 2:
			return nil, &Error{File: r.O.File, Line: r.Line, Problem: fmt.Sprintf("the file ends after %d rows, want at least 2", len(l.Busy))}
		case errors.Is(err, io.EOF):
			return l, nil
		case err != nil:
			return nil, err
		case len(line) == 0:
			continue
		case len(l.Busy) == maxIntervals:
			return nil, &Error{File: r.O.File, Line: r.Line, Problem: fmt.Sprintf("more rows, want at most %d", maxIntervals)}
		}
		if err := r.Cut(string(line)); err != nil {
			return nil, err
		}
		if interval(r, l); r.Err != nil {
			return nil, r.Err
		}
	}
}

func interval(r *Row, l *workload.Load) {
	at, ok := Seconds(r.Raw(loadTime))
	n := len(l.Busy)
	switch before := time.Duration(n-1) * l.Step; {
	case !ok:
		r.Fail(loadTime, "seconds since the start of the trace, at least 0 and at most 9e9, no calendar time")
	case n == 0 && at != 0:
		r.Fail(loadTime, "0 in the first row: seconds since the start of the trace")
	case n == 1 && (at < minLoadStep || at > maxLoadStep):
		r.Fail(loadTime, "1 to 86400 s from the first row to the second")
	case n == 1:
		l.Step = at
	case n > 1 && at != before+l.Step:
		r.Fail(loadTime, wantTime(at, before, l.Step))
	}
	l.Busy = append(l.Busy, share(r, loadBusy))
}

func wantTime(at, before, step time.Duration) string {
	want := FormatSeconds(before+step) + ": "
	switch missing := (at-before)/step - 1; {
	case at == before:
		return want + "the time of the previous row is repeated"
	case at < before:
		return want + "times go back"
	case (at-before)%step == 0 && missing == 1:
		return want + "1 row is missing"
	case (at-before)%step == 0:
		return want + strconv.FormatInt(int64(missing), 10) + " rows are missing"
	}
	return want + "a row each " + FormatSeconds(step) + " s, as between the first two"
}

func share(r *Row, name string) float64 {
	x, err := strconv.ParseFloat(r.Raw(name), 64)
	if err != nil || !(x >= 0 && x <= 1) { // rejects NaN, too
		r.Fail(name, "a share from 0 to 1")
		return 0
	}
	return x + 0 // -0 becomes 0
}

// HeadBytes is how much of a file is read to recognise its format.
const HeadBytes = 1 << 16

// Unpacked returns a reader of r, unpacked if r is gzipped.
func Unpacked(r io.Reader, o Options) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, HeadBytes)
	if magic, _ := b.Peek(2); string(magic) != "\x1f\x8b" { // a read error occurs again later
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, ReadError(o, 0, err)
	}
	return bufio.NewReaderSize(z, HeadBytes), nil
}

// MaxBadRows is how many bad rows a Summary describes. Further ones are only counted.
const MaxBadRows = 10

// A Summary counts the rows that a reader of traces dropped, skipped or completed by assumptions.
type Summary struct {
	Format  string // its name in Formats
	Rows    int    // without blank lines
	Jobs    int    // number of rows, without blank lines
	Bad     int    // number of jobs that the reader yielded
	BadRows []error
	Notes   []Note // in order of first appearance
	// Began is the calendar time of time zero; zero if the trace has no calendar times.
	Began time.Time
	// Dated: times of the trace are calendar times.
	Dated bool
}

// A Note is a remark of a Summary, with the number of rows that it concerns.
type Note struct {
	Text  string
	Count int
}

// Note counts one more row to which the remark text applies.
func (s *Summary) Note(text string) { s.NoteMany(text, 1) }

// NoteMany counts n more rows for a remark.
func (s *Summary) NoteMany(text string, n int) {
	for i := range s.Notes {
		if s.Notes[i].Text == text {
			s.Notes[i].Count += n
			return
		}
	}
	s.Notes = append(s.Notes, Note{text, n})
}

func (s *Summary) skipped(err error) {
	s.Bad++
	if len(s.BadRows) < MaxBadRows {
		s.BadRows = append(s.BadRows, err)
	}
}

// String returns the summary as text, one remark per line.
func (s *Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "format %s: %d rows, %d jobs\n", s.Format, s.Rows, s.Jobs)
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "  %s: %d\n", n.Text, n.Count)
	}
	if s.Bad > 0 {
		fmt.Fprintf(&b, "  bad rows skipped: %d\n", s.Bad)
	}
	for _, err := range s.BadRows {
		fmt.Fprintf(&b, "    %v\n", err)
	}
	if more := s.Bad - len(s.BadRows); more > 0 {
		fmt.Fprintf(&b, "    and %d more\n", more)
	}
	return b.String()
}
