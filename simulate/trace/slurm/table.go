package slurm

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// columns are required; "a|b" means one of them.
var columns = []string{"jobid", "submit", "elapsedraw|elapsed|start", "elapsedraw|elapsed|end", "reqtres|alloctres|reqgres|allocgres"}

// Header returns the required columns, without a separator.
func Header() *parse.Table { return &parse.Table{Format: Format, Required: columns} }

func separator(first string) byte {
	for _, comma := range []byte("|\t,;") {
		if names := headerNames(first, comma); len(names) > 1 && slices.Contains(names, "jobid") {
			return comma
		}
	}
	return 0
}

// bareRow matches a row of sacct --noheader, and human the first two lines of a table for people.
var (
	bareRow = regexp.MustCompile(`^[0-9]+([_+][^|]*)?(\.[a-z0-9]+)?\|`)
	human   = regexp.MustCompile(`^\s*(\w+\s+)*JobID(\s.*)?\n[ -]*---`)
)

func shapeProblem(head []byte) string {
	switch {
	case human.Match(head):
		return "a table with truncated columns" + refused
	case bareRow.Match(head):
		return "rows without a header: the columns are unknown" + refused
	}
	return ""
}

type table struct {
	comma byte
	names []string
	row   *parse.Row
	free  []int // columns of free text, which may contain the separator
	check []int // columns with a form

	header string
	fields []string // of the last line
	places places
}

func (l *log) readTable(r io.Reader, head []byte) (lines int, ok bool) {
	if problem := shapeProblem(head); problem != "" {
		l.feed.Fail(&parse.Error{File: l.o.File, Line: 1, Problem: problem})
		return 0, false
	}
	in := parse.NewLines(r, l.o)
	t, err := l.header(in)
	if err != nil {
		l.feed.Fail(err)
		return 0, false
	}
	l.row = t.row
	for {
		line, err := in.Next()
		t.row.Line = in.Number
		switch {
		case errors.Is(err, io.EOF):
			return in.Number, true
		case err != nil && !errors.Is(err, parse.ErrTooLong):
			l.feed.Fail(err)
			return 0, false
		case err == nil && len(line) == 0:
			continue
		case err == nil && string(line) == t.header:
			l.o.Summary.Note(parse.RepeatedHeaders)
			continue
		}
		l.o.Summary.Rows++
		if err == nil {
			err = l.tableRow(t, line)
		}
		if err != nil && !l.feed.Reject(err) {
			return 0, false
		}
	}
}

func (l *log) header(in *parse.Lines) (*table, error) {
	line, err := in.Next()
	if errors.Is(err, io.EOF) {
		return nil, &parse.Error{File: l.o.File, Problem: "empty file, want a header and at least one job"}
	}
	if err != nil {
		return nil, err
	}
	first := string(line)
	t := &table{header: first, comma: separator(first)}
	if t.comma == 0 {
		t.comma = '|'
	}
	t.names = headerNames(first, t.comma)
	h, err := (&parse.Table{Comma: t.comma, Required: columns}).Header(strings.Join(t.names, string(t.comma)), l.o)
	if err != nil {
		if e, ok := errors.AsType[*parse.Error](err); ok {
			e.Problem += refused
		}
		return nil, err
	}
	t.row = parse.NewRow(l.o, h)
	t.find()
	t.places = placesOf(t.row)
	return t, nil
}

func (l *log) tableRow(t *table, line []byte) error {
	if !utf8.Valid(line) {
		l.o.Summary.Note("rows that are not UTF-8, read as Latin-1")
		line = latin1(line)
	}
	if err := t.cut(string(line)); err != nil {
		return err
	}
	rec := l.record(t.row, &t.places)
	if t.row.Err != nil {
		return t.row.Err
	}
	return l.add(rec, t.row.Line)
}

func latin1(text []byte) []byte {
	out := make([]byte, 0, len(text)+8)
	for _, b := range text {
		out = utf8.AppendRune(out, rune(b))
	}
	return out
}

const maxRecent = 1 << 12

type interned[T comparable] struct {
	all    []T
	number map[T]uint32
}

func (n *interned[T]) keep(value T, clone func(T) T) uint32 {
	if number, ok := n.number[value]; ok {
		return number
	}
	if n.number == nil {
		n.number = make(map[T]uint32)
	}
	number, own := uint32(len(n.all)), clone(value)
	n.all, n.number[own] = append(n.all, own), number
	return number
}

type textCache[T any] struct{ known map[string]T }

func (m *textCache[T]) of(text string, parse func(string) (T, string)) (value T, want string) {
	if value, ok := m.known[text]; ok {
		return value, ""
	}
	if value, want = parse(text); want != "" {
		return value, want
	}
	if m.known == nil || len(m.known) == maxRecent {
		m.known = make(map[string]T)
	}
	m.known[strings.Clone(text)] = value
	return value, ""
}
