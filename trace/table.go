package trace

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oxgang/oxgang/workload"
)

// A table is a delimited text format: how its rows are cut, which columns it
// must have, and how a row becomes an arrival.
type table struct {
	format   string
	comma    byte
	required []string // columns the header must have, each or one of "a|b"
	// bare gives the column names of files without a header, by the number of
	// tab-separated fields of their first line; nil: there is always a header.
	bare map[int][]string
	id   string // column that names the job; in files without it rows are numbered
	// arrival turns a row into an arrival. It returns why the row is dropped,
	// or "", and leaves what it could not parse in the row's err.
	arrival func(*row) (a workload.Arrival, drop string)
}

// read returns the arrivals of r in the order of its rows.
func (t *table) read(r io.Reader, o Options) iter.Seq2[workload.Arrival, error] {
	o = o.filled()
	return func(yield func(workload.Arrival, error) bool) {
		in := newLines(r, o)
		line, err := in.next()
		if err != nil {
			yield(workload.Arrival{}, headerError(err, o))
			return
		}
		first := string(line)
		h, err := t.header(first, o)
		if err != nil {
			yield(workload.Arrival{}, err)
			return
		}
		rows := &row{o: o, line: in.number, index: -1, header: h, shared: map[string]string{}}
		f := newFeed(o, t.format, rows.has(t.id), yield)
		if h.bare && !t.row(f, rows, first) {
			return
		}
		t.rows(f, rows, in)
	}
}

// headerError says what is wrong with an input that has no first line.
func headerError(err error, o Options) error {
	if errors.Is(err, io.EOF) {
		return &Error{File: o.File, Problem: "empty file, want a header and at least one job"}
	}
	return err
}

// A header says how the lines of one file are cut.
type header struct {
	column map[string]int // name -> index
	width  int            // columns
	comma  byte
	bare   bool // the first line is a row, not names
}

// header returns the header of a file, given its first line.
func (t *table) header(first string, o Options) (header, error) {
	if n := strings.Count(first, "\t") + 1; t.bare != nil && n > 1 {
		if t.bare[n] == nil {
			return header{}, &Error{File: o.File, Line: 1, Problem: fmt.Sprintf("%d tab-separated columns, want %s", n, t.widths())}
		}
		h := header{column: make(map[string]int, n), width: n, comma: '\t', bare: true}
		for i, name := range t.bare[n] {
			h.column[name] = i
		}
		return h, nil
	}
	fields, ok := split(nil, first, t.comma)
	if !ok {
		return header{}, &Error{File: o.File, Line: 1, Problem: "header with an open quote, want it closed on the same line"}
	}
	h := header{column: make(map[string]int, len(fields)), width: len(fields), comma: t.comma}
	for i, name := range fields {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, ok := h.column[name]; ok && name != "" {
			return header{}, &Error{File: o.File, Line: 1, Column: i + 1, Problem: fmt.Sprintf("second column %s, want each once", quote(name))}
		}
		h.column[name] = i
	}
	for _, want := range t.required {
		if !hasAny(h.column, want) {
			return header{}, &Error{File: o.File, Line: 1, Problem: fmt.Sprintf("no column %s in header %s", strings.ReplaceAll(want, "|", " or "), quote(first))}
		}
	}
	return h, nil
}

// hasAny reports whether the header has one of the names in "a|b".
func hasAny(names map[string]int, alternatives string) bool {
	for n := range strings.SplitSeq(alternatives, "|") {
		if _, ok := names[n]; ok {
			return true
		}
	}
	return false
}

// widths names the numbers of columns a file without a header may have.
func (t *table) widths() string {
	var all []string
	for n := range 100 {
		if t.bare[n] != nil {
			all = append(all, strconv.Itoa(n))
		}
	}
	return strings.Join(all, " or ")
}

// rows feeds every line left in the input.
func (t *table) rows(f *feed, r *row, in *lines) {
	for {
		line, err := in.next()
		r.line = in.number
		switch {
		case errors.Is(err, io.EOF):
			f.finish(in.number)
			return
		case errors.Is(err, errTooLong):
			f.o.Summary.Rows++
			r.index++
			if !f.reject(err) {
				return
			}
			continue
		case err != nil:
			f.fail(err)
			return
		}
		if len(line) > 0 && !t.row(f, r, string(line)) {
			return
		}
	}
}

// row feeds one line and reports whether to go on.
func (t *table) row(f *feed, r *row, line string) bool {
	f.o.Summary.Rows++
	r.index++
	if err := r.cut(line); err != nil {
		return f.reject(err)
	}
	a, drop := t.arrival(r)
	switch {
	case r.err != nil:
		return f.reject(r.err)
	case drop != "":
		f.o.Summary.note(drop)
		return true
	}
	if err := f.check(&a); err != nil {
		return f.reject(r.blame(err))
	}
	return f.accept(a, r.line, r.column[t.id]+1, t.id)
}

// cut makes a line the row's fields, or says why it has not those of the header.
func (r *row) cut(line string) error {
	r.err = nil
	if !utf8.ValidString(line) {
		return &Error{File: r.o.File, Line: r.line, Problem: "bytes that are no UTF-8 text"}
	}
	var ok bool
	r.fields, ok = split(r.fields[:0], line, r.comma)
	switch {
	case !ok:
		return &Error{File: r.o.File, Line: r.line, Column: len(r.fields), Problem: "open quote, want it closed on the same line"}
	case len(r.fields) != r.width:
		return &Error{File: r.o.File, Line: r.line, Problem: fmt.Sprintf("%d fields, want %d", len(r.fields), r.width)}
	}
	return nil
}

// split appends the fields of a line to dst. A field in double quotes may hold
// the separator, and quotes doubled, unless the separator is a tab. It reports
// whether all quotes are closed.
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

// unquote returns the text up to the closing quote, and what follows it.
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
