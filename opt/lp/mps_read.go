package lp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MPSOptions say how to read. The zero value is complete.
type MPSOptions struct {
	File string // as errors name it; empty: mps
	// MemoryLimit makes reading fail with ErrTooLarge as soon as the model needs
	// about more bytes than this; 0 is no limit. The problem keeps what its names
	// leave of it.
	MemoryLimit int64
}

// longestLine of a file, in bytes.
const longestLine = 1 << 20

// ReadMPS reads a model in MPS format, free (words parted by blanks) or fixed (by
// columns of the card, where names have blanks; it shows line by line), with the
// sections NAME, OBJSENSE, ROWS, COLUMNS with integer markers, RHS, RANGES,
// BOUNDS and ENDATA. What is not said everywhere alike:
//
//   - the first N row is the objective, a right-hand side of it is subtracted;
//     further N rows are rows without sides;
//   - a range R of an E row is from rhs to rhs+R, or from rhs+R if R < 0;
//   - an upper bound below 0 makes a lower bound that is not given -Inf;
//   - an integer column between markers without any bound has 0 and 1;
//   - sides and bounds of 1e30 and more are infinite.
//
// Errors start with file, line and column, and say what was wanted; there are
// ErrTooLarge and those of r. It costs the file, and reads r up to ENDATA only.
func ReadMPS(r io.Reader, o MPSOptions) (*Model, error) {
	if o.File == "" {
		o.File = "mps"
	}
	m := &mpsReader{
		options: o, model: &Model{Problem: &Problem{MemoryLimit: o.MemoryLimit}},
		rows: map[string]int{}, cols: map[string]int{}, sets: map[string]string{},
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<16), longestLine)
	for m.section != mpsEnd && lines.Scan() {
		m.line++
		if err := m.read(lines.Bytes()); err != nil {
			return nil, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		m.line++
		return nil, m.fail(0, "line too long, want at most %d bytes", longestLine)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", o.File, err)
	case m.section != mpsEnd:
		return nil, m.fail(0, "the file ends, want ENDATA")
	}
	return m.model, nil
}

// mpsReader is what is known between two lines.
type mpsReader struct {
	options MPSOptions
	model   *Model
	line    int
	section string
	past    []string // sections that began
	fields  []field

	rows map[string]int // place in row; -1: the objective
	row  []mpsRow
	cols map[string]int // column slot
	col  []mpsCol
	sets map[string]string // of each section with sets, the one it has
	used int64             // bytes of names and of what is kept beside the problem

	name     string // of the column that is being read
	begun    bool   // there is one
	costSeen bool
	cost     float64
	entries  []RowEntry
	integer  bool // between markers
}

type mpsRow struct {
	handle   Row
	kind     byte // N, L, G or E
	hasRHS   bool
	hasRange bool
	last     int // 1 + the last column with an entry
	rhs, rng float64
}

type mpsCol struct {
	low, up bool // given
	line    int  // of the last bound
}

// A field is a word of a line, and the place of its first byte.
type field struct {
	text []byte
	at   int
}

// fail returns an error at a field's place of the line; 0 is the whole line.
func (m *mpsReader) fail(at int, format string, args ...any) error {
	place := m.options.File + ":" + strconv.Itoa(m.line)
	if at > 0 {
		place += ":" + strconv.Itoa(at)
	}
	return fmt.Errorf("%s: %w", place, fmt.Errorf(format, args...))
}

func (m *mpsReader) failAt(f field, format string, args ...any) error {
	return m.fail(f.at+1, format, args...)
}

// read reads one line.
func (m *mpsReader) read(line []byte) error {
	if m.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	line = bytes.TrimRight(line, " \t\r")
	if len(line) == 0 || line[0] == '*' {
		return nil
	}
	m.split(line)
	if line[0] != ' ' && line[0] != '\t' {
		return m.header(line)
	}
	if len(m.fields) == 0 {
		return nil
	}
	err := m.data()
	if err == nil || errors.Is(err, ErrTooLarge) || !m.cards(line) || len(m.fields) == 0 || m.data() != nil {
		return err
	}
	return nil
}

// split cuts a line into words; a word from the third on that begins with $
// begins a comment.
func (m *mpsReader) split(line []byte) {
	m.fields = m.fields[:0]
	for at := 0; at < len(line); {
		if line[at] == ' ' || line[at] == '\t' {
			at++
			continue
		}
		end := at
		for end < len(line) && line[end] != ' ' && line[end] != '\t' {
			end++
		}
		if len(m.fields) >= 2 && line[at] == '$' {
			return
		}
		m.fields = append(m.fields, field{line[at:end], at})
		at = end
	}
}

// cards cuts a line by the columns of a card, and reports whether it is one: only
// blanks between the fields.
func (m *mpsReader) cards(line []byte) bool {
	m.fields = m.fields[:0]
	end := 0
	for k, at := range [][2]int{{1, 3}, {4, 12}, {14, 22}, {24, 36}, {39, 47}, {49, 61}} {
		from, to := min(at[0], len(line)), min(at[1], len(line))
		if len(bytes.TrimSpace(line[min(end, len(line)):from])) > 0 {
			return false
		}
		text := bytes.TrimSpace(line[from:to])
		if len(text) > 0 && text[0] == '$' && (k == 2 || k == 4) {
			return true
		}
		if len(text) > 0 {
			m.fields = append(m.fields, field{text, from})
		}
		end = at[1]
	}
	return len(bytes.TrimSpace(line[min(end, len(line)):])) == 0
}

// header begins a section.
func (m *mpsReader) header(line []byte) error {
	first := m.fields[0]
	section := strings.ToUpper(string(first.text))
	want := map[string]string{mpsName: "", mpsRows: "", mpsColumns: mpsRows, mpsRHS: mpsColumns, mpsRanges: mpsColumns, mpsBounds: mpsColumns, mpsSense: "", mpsEnd: ""}
	before, known := want[section]
	switch {
	case !known:
		return m.failAt(first, "section %q, want one of NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, ENDATA", first.text)
	case slices.Contains(m.past, section):
		return m.failAt(first, "second section %s, want one", section)
	case before != "" && !slices.Contains(m.past, before):
		return m.failAt(first, "section %s before %s, want it after", section, before)
	case section != mpsSense && section != mpsName && len(m.fields) > 1:
		return m.failAt(m.fields[1], "%q behind %s, want nothing, or a blank before a line of data", m.fields[1].text, section)
	}
	if err := m.flush(); err != nil {
		return err
	}
	m.past, m.section = append(m.past, section), section
	switch {
	case section == mpsName:
		m.model.Name = string(bytes.TrimSpace(line[len(first.text):]))
	case section == mpsEnd:
		return m.finish()
	case len(m.fields) > 1:
		m.fields = m.fields[1:]
		return m.sense()
	}
	return nil
}

// data reads a line of data, and changes nothing if that fails.
func (m *mpsReader) data() error {
	switch m.section {
	case mpsRows:
		return m.addRow()
	case mpsColumns:
		return m.column()
	case mpsRHS:
		return m.pairs(m.checkRHS, m.setRHS)
	case mpsRanges:
		return m.pairs(m.checkRange, m.setRange)
	case mpsBounds:
		return m.bound()
	case mpsSense:
		return m.sense()
	}
	return m.failAt(m.fields[0], "%q before any section, want ROWS", m.fields[0].text)
}

func (m *mpsReader) sense() error {
	switch strings.ToUpper(string(m.fields[0].text)) {
	case "MAX", "MAXIMIZE":
		m.model.Maximize = true
	case "MIN", "MINIMIZE":
		m.model.Maximize = false
	default:
		return m.failAt(m.fields[0], "sense %q, want MIN or MAX", m.fields[0].text)
	}
	return nil
}

// keep counts what a name takes: itself, its place in a list and in a map, and
// what is kept beside it while reading.
func (m *mpsReader) keep(name string) {
	const beside = 120
	m.used += int64(len(name)) + beside
	if limit := m.options.MemoryLimit; limit > 0 {
		m.model.Problem.MemoryLimit = max(1, limit-m.used)
	}
}

func (m *mpsReader) addRow() error {
	if len(m.fields) != 2 {
		return m.failAt(m.fields[0], "%d words, want a kind of row and its name", len(m.fields))
	}
	kind := bytes.ToUpper(m.fields[0].text)
	if len(kind) != 1 || bytes.IndexByte([]byte("NLGE"), kind[0]) < 0 {
		return m.failAt(m.fields[0], "kind of row %q, want N, L, G or E", m.fields[0].text)
	}
	name := string(m.fields[1].text)
	if _, twice := m.rows[name]; twice {
		return m.failAt(m.fields[1], "row %q, want a name not used before", name)
	}
	if kind[0] == 'N' && m.model.Objective == "" {
		m.model.Objective, m.rows[name] = name, -1
		return nil
	}
	m.keep(name)
	r, err := m.model.Problem.AddRow(-Inf, Inf)
	if err != nil {
		return m.failAt(m.fields[1], "row %q: %w", name, err)
	}
	m.rows[name] = len(m.row)
	m.row = append(m.row, mpsRow{handle: r, kind: kind[0]})
	m.model.RowNames = append(m.model.RowNames, name)
	return nil
}

// number reads a finite number, or, if infinite, any but NaN.
func (m *mpsReader) number(f field, infinite bool) (float64, error) {
	v, err := strconv.ParseFloat(string(f.text), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), math.IsNaN(v):
		return 0, m.failAt(f, "%q, want a number", f.text)
	case infinite && math.Abs(v) >= mpsInfinite:
		return math.Copysign(Inf, v), nil
	case math.IsInf(v, 0):
		return 0, m.failAt(f, "%q, want a finite number", f.text)
	}
	return v, nil
}
