package parse

import (
	"fmt"
	"strings"
)

// MaxBadRows is the number of bad rows that a Summary stores; the others are only counted.
const MaxBadRows = 10

// A Summary lists what a reader dropped, skipped or invented.
type Summary struct {
	Format  string // its name in Formats
	Rows    int    // without blank lines
	Jobs    int    // yielded
	Bad     int    // unusable rows that were skipped
	BadRows []error
	Notes   []Note // in order of first appearance
}

// A Note counts the rows of one remark.
type Note struct {
	Text  string
	Count int
}

// Note counts one more row for a remark.
func (s *Summary) Note(text string) {
	for i := range s.Notes {
		if s.Notes[i].Text == text {
			s.Notes[i].Count++
			return
		}
	}
	s.Notes = append(s.Notes, Note{text, 1})
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
