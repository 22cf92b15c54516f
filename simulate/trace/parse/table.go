package parse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oxgang/oxgang/simulate/workload"
)

// A Table describes a trace format that is a table with named columns and one job per line.
type Table struct {
	Format   string
	Comma    byte
	Required []string // columns of the header; "a|b" means one of them
	// Bare has the columns of files without a header, by the number of tab-separated fields; nil: files have
	// a header.
	Bare map[int][]string
	ID   string // column of the job's name; without it rows are numbered
	// Arrival converts a row into a job, or returns why it is dropped. Parse errors are in Row.Err.
	Arrival func(*Row) (a workload.Arrival, drop string)
}

// Read returns the jobs of a file, in the order of its rows.
func (t *Table) Read(r io.Reader, o Options) iter.Seq2[workload.Arrival, error] {
	o = o.Filled()
	return func(yield func(workload.Arrival, error) bool) {
		in := NewLines(r, o)
		line, err := in.Next()
		if err != nil {
			yield(workload.Arrival{}, headerError(err, o))
			return
		}
		first := string(line)
		h, err := t.Header(first, o)
		if err != nil {
			yield(workload.Arrival{}, err)
			return
		}
		rows := &Row{O: o, Line: in.Number, Index: -1, Header: h, shared: map[string]string{}}
		f := NewFeed(o, t.Format, rows.Has(t.ID), yield)
		if h.bare && !t.row(f, rows, first) {
			return
		}
		t.rows(f, rows, in)
	}
}

func headerError(err error, o Options) error {
	if errors.Is(err, io.EOF) {
		return &Error{File: o.File, Problem: "empty file, want a header and at least one job"}
	}
	return err
}

// A Header maps the names of the columns of one file to their positions.
type Header struct {
	column map[string]int // name -> index
	width  int            // columns
	comma  byte
	bare   bool   // the file has no header line
	first  string // text of the header
}

// Has reports whether the file has the column.
func (h *Header) Has(name string) bool {
	_, ok := h.column[name]
	return ok
}

// Header parses the first line of a file, its header.
func (t *Table) Header(first string, o Options) (Header, error) {
	if n := strings.Count(first, "\t") + 1; t.Bare != nil && n > 1 {
		if t.Bare[n] == nil {
			return Header{}, &Error{File: o.File, Line: 1, Problem: fmt.Sprintf("%d tab-separated columns, want %s", n, t.widths())}
		}
		return Columns(t.Bare[n], '\t'), nil
	}
	fields, ok := split(nil, first, t.Comma)
	if !ok {
		return Header{}, &Error{File: o.File, Line: 1, Problem: "header with an open quote, want it closed on the same line"}
	}
	h := Header{column: make(map[string]int, len(fields)), width: len(fields), comma: t.Comma, first: first}
	for i, name := range fields {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, ok := h.column[name]; ok && name != "" {
			return Header{}, &Error{File: o.File, Line: 1, Column: i + 1, Problem: fmt.Sprintf("second column %s, want each once", Quote(name))}
		}
		h.column[name] = i
	}
	for _, want := range t.Required {
		if !hasAny(h.column, want) {
			return Header{}, &Error{File: o.File, Line: 1, Problem: fmt.Sprintf("no column %s in header %s", strings.ReplaceAll(want, "|", " or "), Quote(first))}
		}
	}
	return h, nil
}

// Columns returns the Header of a file that has no header line and has columns with these names.
func Columns(names []string, comma byte) Header {
	h := Header{column: make(map[string]int, len(names)), width: len(names), comma: comma, bare: true}
	for i, name := range names {
		h.column[name] = i
	}
	return h
}

func hasAny(names map[string]int, alternatives string) bool {
	for n := range strings.SplitSeq(alternatives, "|") {
		if _, ok := names[n]; ok {
			return true
		}
	}
	return false
}

func (t *Table) widths() string {
	var all []string
	for n := range 100 {
		if t.Bare[n] != nil {
			all = append(all, strconv.Itoa(n))
		}
	}
	return strings.Join(all, " or ")
}

func (t *Table) rows(f *Feed, r *Row, in *Lines) {
	if in.Each(f, func(line string) bool {
		if r.Line = in.Number; line == r.first {
			f.O.Summary.Note(RepeatedHeaders)
			return true
		}
		return t.row(f, r, line)
	}) {
		f.Finish(in.Number)
	}
}

func (t *Table) row(f *Feed, r *Row, line string) bool {
	r.Index = f.O.Summary.Rows
	f.O.Summary.Rows++
	if err := r.Cut(line); err != nil {
		return f.Reject(err)
	}
	a, drop := t.Arrival(r)
	switch {
	case r.Err != nil:
		return f.Reject(r.Err)
	case drop != "":
		f.O.Summary.Note(drop)
		return true
	}
	if err := f.Check(&a); err != nil {
		return f.Reject(r.Blame(err))
	}
	return f.Accept(a, r.Line, r.column[t.ID]+1, t.ID)
}

// Cut splits a line into the fields of the row, or returns an error.
func (r *Row) Cut(line string) error {
	r.Err = nil
	if !utf8.ValidString(line) {
		return &Error{File: r.O.File, Line: r.Line, Problem: "text that is not UTF-8"}
	}
	fields, ok := split(r.fields[:0], line, r.comma)
	if !ok {
		return &Error{File: r.O.File, Line: r.Line, Column: len(fields), Problem: "open quote, want it closed on the same line"}
	}
	return r.Take(fields)
}

// Take sets the fields of the row, which uses the slice until the next row.
func (r *Row) Take(fields []string) error {
	r.Err, r.fields = nil, fields
	if len(fields) != r.width {
		return &Error{File: r.O.File, Line: r.Line, Problem: fmt.Sprintf("%d fields, want %d", len(fields), r.width)}
	}
	return nil
}

// split appends the fields of a line to dst. Except in tab-separated files, a quoted field may contain the
// separator and doubled quotes.
func split(dst []string, line string, comma byte) ([]string, bool) {
	for {
		if comma != '\t' && strings.HasPrefix(line, `"`) {
			field, rest, ok := unquote(line[1:])
			dst = append(dst, field)
			switch {
			case !ok:
				return dst, false
			case rest == "":
				return dst, true
			case rest[0] != comma:
				return dst, false
			}
			line = rest[1:]
			continue
		}
		i := strings.IndexByte(line, comma)
		if i < 0 {
			return append(dst, line), true
		}
		dst = append(dst, line[:i])
		line = line[i+1:]
	}
}

func unquote(s string) (field, rest string, ok bool) {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return s, "", false
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		if !strings.HasPrefix(s, `"`) {
			return b.String(), s, true
		}
		b.WriteByte('"')
		s = s[1:]
	}
}

// Sniff reports whether the first line of a file is a header of this Table.
func (t *Table) Sniff(head []byte) bool {
	_, err := t.Header(FirstLine(head), Options{})
	return err == nil
}

// FirstLine returns the first line without its end.
func FirstLine(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r")))
}
