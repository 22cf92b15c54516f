package parse

import (
	"fmt"
	"strings"
	"time"
)

// MaxBadRows is how many bad rows a Summary describes. Further ones are only counted.
const MaxBadRows = 10

// A Summary counts the rows that a reader of traces dropped, skipped or completed by assumptions.
type Summary struct {
	Format  string // its name in Formats
	Rows    int    // without blank lines
	Jobs    int    // yielded
	Bad     int    // unusable rows that were skipped
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
