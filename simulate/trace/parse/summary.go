package parse

import (
	"fmt"
	"strings"
)

// MaxBadRows is how many bad rows a Summary keeps; the others are counted.
const MaxBadRows = 10 // samples of bad rows kept in a Summary

// A Summary says what a reader did to a trace besides reading it: what it
// dropped, skipped or invented.
type Summary struct {
	Format  string // its name in Formats
	Rows    int    // read, blank lines not counted
	Jobs    int    // yielded
	Bad     int    // rows skipped because they could not be used
	BadRows []error
	Notes   []Note // in order of first appearance
}

// A Note counts the rows to which one remark applies.
type Note struct {
	Text  string
	Count int
}

// Note counts one more row to which text applies.
func (s *Summary) Note(text string) {
	for i := range s.Notes {
		if s.Notes[i].Text == text {
			s.Notes[i].Count++
			return
		}
	}
	s.Notes = append(s.Notes, Note{text, 1})
}

// skipped counts a bad row and keeps the first few as samples.
func (s *Summary) skipped(err error) {
	s.Bad++
	if len(s.BadRows) < MaxBadRows {
		s.BadRows = append(s.BadRows, err)
	}
}

// String returns the summary as lines of text, one remark a line.
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
