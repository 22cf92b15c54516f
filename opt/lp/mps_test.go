package lp_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/lp"
)

// everything has every section and kind.
const everything = `* a comment
NAME          MIX OF ALL
OBJSENSE
    MAX
ROWS
 N  COST
 L  LIM1
 G  LIM2
 E  MYEQN
 E  DOWN
 N  FREE
COLUMNS
    X         COST         1.0   LIM1         1.0
    X         LIM2         1.0   $ the rest is a comment
    M1        'MARKER'                 'INTORG'
    Y         COST         2.0   LIM1         1.0
    Y         MYEQN       -1.0
    B         FREE         1e0
    M2        'MARKER'                 'INTEND'
    Z         COST        -1.0   MYEQN        1.0
    Z         DOWN         1.0
    U         COST         0
    V         COST         0
    W         COST         0
RHS
    RHS       LIM1         4.0   LIM2         1.0
    RHS       MYEQN        7.0   COST        -10.0
    RHS       DOWN         3.0
RANGES
    RNG       LIM1         2.5   MYEQN        2.0
    RNG       DOWN        -1.5   LIM2         8
BOUNDS
 UP BND       X            4.0
 LO BND       Y           -1.0
 UP BND       Y            1.0
 UP BND       Z           -2.0
 FX BND       U            5
 MI BND       V
 UP BND       V            1e31
 BV BND       W
ENDATA
what follows does not matter
`

// describe is a model in words, in which -0 is 0.
func describe(m *lp.Model) string {
	var b strings.Builder
	p := m.Problem
	fmt.Fprintf(&b, "%s maximize %v offset %v\n", m.Name, m.Maximize, p.Offset)
	for i := range p.RowSlots() {
		if p.HasRow(i) {
			low, up := p.Sides(i)
			fmt.Fprintf(&b, "%s: %v to %v\n", m.RowName(i), low+0, up+0)
		}
	}
	for j := range p.ColSlots() {
		if !p.HasCol(j) {
			continue
		}
		c := p.Column(j)
		fmt.Fprintf(&b, "%s: cost %v, %v to %v", m.ColName(j), c.Cost+0, c.Low+0, c.Up+0)
		if c.Integer {
			fmt.Fprint(&b, ", integer")
		}
		for k, r := range c.Rows {
			fmt.Fprintf(&b, ", %v %s", c.Values[k], m.RowName(int(r)))
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func TestReadMPS(t *testing.T) {
	m, err := lp.ReadMPS(strings.NewReader(everything), lp.MPSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := `MIX OF ALL maximize true offset -10
LIM1: 1.5 to 4
LIM2: 1 to 9
MYEQN: 7 to 9
DOWN: 1.5 to 3
FREE: -Inf to +Inf
X: cost -1, 0 to 4, 1 LIM1, 1 LIM2
Y: cost -2, -1 to 1, integer, 1 LIM1, -1 MYEQN
B: cost 0, 0 to 1, integer, 1 FREE
Z: cost 1, -Inf to -2, 1 MYEQN, 1 DOWN
U: cost 0, 5 to 5
V: cost 0, -Inf to +Inf
W: cost 0, 0 to 1, integer
`
	if d := cmp.Diff(want, describe(m)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestReadMPS_names_with_blanks_by_card(t *testing.T) {
	file := `NAME
ROWS
 N  COST
 L  ROW 1
 G  ROW 2
COLUMNS
    COL 1     COST               1.0   ROW 1              2.0
    COL 1     ROW 2              3.0
    C2        ROW 2              4.0
RHS
    RHS       ROW 1              5.0   ROW 2              6.0
BOUNDS
 UP BND       COL 1              7.0
 MI           C2
ENDATA
`
	m, err := lp.ReadMPS(strings.NewReader(strings.ReplaceAll(file, "\n", "\r\n")), lp.MPSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := ` maximize false offset 0
ROW 1: -Inf to 5
ROW 2: 6 to +Inf
COL 1: cost 1, 0 to 7, 2 ROW 1, 3 ROW 2
C2: cost 0, -Inf to +Inf, 4 ROW 2
`
	if d := cmp.Diff(want, describe(m)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestReadMPS_says_what_is_wrong(t *testing.T) {
	const rows = "ROWS\n N obj\n L a\n E b\n N free\nCOLUMNS\n"
	const cols = rows + " x a 1 b 1\n y a 1\n"
	for name, test := range map[string]struct{ file, want string }{
		"empty":                  {"", "m.mps:0: the file ends, want ENDATA"},
		"truncated":              {cols + " z a 1", "m.mps:9: the file ends, want ENDATA"},
		"truncated in a line":    {cols + " z a", "m.mps:9:2: 2 words, want a column and one or two pairs of row and number"},
		"not this format":        {"job,time\n", `m.mps:1:1: section "job,time", want one of NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, ENDATA`},
		"data without section":   {" x\n", `m.mps:1:2: "x" before any section, want ROWS`},
		"sections in order":      {"COLUMNS\n", "m.mps:1:1: section COLUMNS before ROWS, want it after"},
		"section twice":          {"ROWS\nROWS\n", "m.mps:2:1: second section ROWS, want one"},
		"words behind a section": {"ROWS N obj\n", `m.mps:1:6: "N" behind ROWS, want nothing, or a blank before a line of data`},
		"sense":                  {"OBJSENSE BEST\n", `m.mps:1:10: sense "BEST", want MIN or MAX`},
		"kind of row":            {"ROWS\n X a\n", `m.mps:2:2: kind of row "X", want N, L, G or E`},
		"row without name":       {"ROWS\n L\n", "m.mps:2:2: 1 words, want a kind of row and its name"},
		"row twice":              {"ROWS\n L a\n L a\n", `m.mps:3:4: row "a", want a name not used before`},
		"no such row":            {rows + " x c 1\n", `m.mps:7:4: row "c", want one of ROWS`},
		"no number":              {rows + " x a one\n", `m.mps:7:6: "one", want a number`},
		"not a number":           {rows + " x a NaN\n", `m.mps:7:6: "NaN", want a number`},
		"infinite coefficient":   {rows + " x a 1e999\n", `m.mps:7:6: "1e999", want a finite number`},
		"entry twice":            {rows + " x a 1\n x a 2\n", `m.mps:8:4: row "a" twice in column "x", want once`},
		"entry twice in a line":  {rows + " x a 1 a 2\n", `m.mps:7:8: row "a" twice in column "x", want once`},
		"cost twice":             {rows + " x obj 1\n x obj 2\n", `m.mps:8:4: row "obj" twice in column "x", want once`},
		"column apart":           {cols + " x a 1\n", `m.mps:9:2: column "x" again, want its lines together`},
		"marker":                 {rows + " M 'MARKER' 'INT'\n", `m.mps:7:13: marker "'INT'", want 'INTORG' or 'INTEND'`},
		"rhs of no row":          {cols + "RHS\n RHS c 1\n", `m.mps:10:6: row "c", want one of ROWS`},
		"rhs twice":              {cols + "RHS\n RHS a 1\n RHS a 1\n", `m.mps:11:6: second right-hand side of row "a", want one`},
		"rhs twice in a line":    {cols + "RHS\n RHS a 1 a 2\n", `m.mps:10:10: row "a" twice, want once`},
		"rhs of a free row":      {cols + "RHS\n RHS free 1\n", `m.mps:10:6: right-hand side of row "free" of kind N, want none`},
		"infinite rhs":           {cols + "RHS\n RHS b 1e30\n", `m.mps:10:8: "1e30" as right-hand side of a row of kind E, want finite`},
		"second set":             {cols + "RHS\n R1 a 1\n R2 b 1\n", `m.mps:11:2: second set "R2" in RHS, want "R1" only`},
		"words of rhs":           {cols + "RHS\n 1\n", "m.mps:10:2: 1 words, want one or two pairs of row and number, perhaps behind the name of a set"},
		"range of objective":     {cols + "RANGES\n R obj 1\n", `m.mps:10:4: range of row "obj" of kind N, want none`},
		"range twice":            {cols + "RANGES\n R a 1\n R a 1\n", `m.mps:11:4: second range of row "a", want one`},
		"infinite range":         {cols + "RANGES\n R a Inf\n", `m.mps:10:6: "Inf", want a finite number`},
		"bound of no column":     {cols + "BOUNDS\n UP B z 1\n", `m.mps:10:7: column "z", want one of COLUMNS`},
		"kind of bound":          {cols + "BOUNDS\n SC B x 1\n", `m.mps:10:2: kind of bound "SC", want UP, LO, FX, FR, MI, PL, BV, LI or UI`},
		"bound without number":   {cols + "BOUNDS\n UP x\n", "m.mps:10:2: 2 words, want kind UP, perhaps the name of a set, and a column and a number"},
		"bound that none meets":  {cols + "BOUNDS\n LO B x Inf\n", `m.mps:10:9: bound LO of "Inf", want one that a column can meet`},
		"half an integer":        {cols + "BOUNDS\n UI B x 1.5\n", `m.mps:10:9: bound UI of "1.5", want one that a column can meet`},
		"contradictory bounds":   {cols + "BOUNDS\n LO B x 5\n UP B x 3\n FR B y\nENDATA\n", `m.mps:11: column "x": range 5 to 3, want a lower end that is not above the upper one`},
		"line too long":          {"ROWS\n N " + strings.Repeat("o", 1<<20), "m.mps:2: line too long, want at most 1048576 bytes"},
	} {
		_, err := lp.ReadMPS(strings.NewReader(test.file), lp.MPSOptions{File: "m.mps"})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: error\n%v, want\n%s", name, err, test.want)
		}
	}
}

// endless is a file with more and more of something.
type endless struct {
	head string
	line func(int) string
	n    int
	rest []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		e.rest = []byte(e.line(e.n))
		if e.n == 0 {
			e.rest = append([]byte(e.head), e.rest...)
		}
		e.n++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestReadMPS_too_large reads files without end: the first 10 MB are enough.
func TestReadMPS_too_large(t *testing.T) {
	for name, file := range map[string]*endless{
		"rows":    {head: "ROWS\n", line: func(i int) string { return fmt.Sprintf(" L row%d\n", i) }},
		"columns": {head: "ROWS\n L a\nCOLUMNS\n", line: func(i int) string { return fmt.Sprintf(" x%d a 1\n", i) }},
		"names":   {head: "ROWS\n L a\nCOLUMNS\n", line: func(i int) string { return fmt.Sprintf(" %0100000d a 1\n", i) }},
	} {
		_, err := lp.ReadMPS(file, lp.MPSOptions{MemoryLimit: 10_000_000})
		if !errors.Is(err, lp.ErrTooLarge) {
			t.Errorf("%s: error %v, want ErrTooLarge", name, err)
		}
		if file.n > 500_000 {
			t.Errorf("%s: read %d lines before the refusal", name, file.n)
		}
	}
	// One endless column.
	var head strings.Builder
	head.WriteString("ROWS\n")
	for i := range 30_000 {
		fmt.Fprintf(&head, " L r%d\n", i)
	}
	head.WriteString("COLUMNS\n")
	column := &endless{head: head.String(), line: func(i int) string { return fmt.Sprintf(" x r%d 1\n", i) }}
	_, err := lp.ReadMPS(column, lp.MPSOptions{MemoryLimit: 6_000_000})
	if !errors.Is(err, lp.ErrTooLarge) || column.n >= 30_000 {
		t.Errorf("column: error %v after %d lines, want ErrTooLarge", err, column.n)
	}
}

// models draws models whose names are words and whose numbers survive.
func models(r *rapid.T) *lp.Model {
	p := &lp.Problem{Offset: float64(rapid.IntRange(-3, 3).Draw(r, "offset"))}
	m := &lp.Model{Problem: p, Maximize: rapid.Bool().Draw(r, "maximize"), Name: rapid.SampledFrom([]string{"", "a b", "MODEL"}).Draw(r, "name")}
	number := rapid.OneOf(rapid.Float64Range(-1e6, 1e6), rapid.Map(rapid.IntRange(-5, 5), func(i int) float64 { return float64(i) }))
	span := func() (low, up float64) {
		low = number.Draw(r, "low")
		up = low + float64(rapid.IntRange(0, 2).Draw(r, "size"))
		if rapid.IntRange(0, 2).Draw(r, "open") == 0 {
			low = -lp.Inf
		}
		if rapid.IntRange(0, 2).Draw(r, "open") == 0 {
			up = lp.Inf
		}
		return low, up
	}
	must := func(err error) {
		if err != nil {
			r.Fatal(err)
		}
	}
	var rows []lp.Row
	for i := range rapid.IntRange(0, 6).Draw(r, "rows") {
		low, up := span()
		if low > -lp.Inf && up < lp.Inf {
			low, up = float64(int(low)), float64(int(low)+1) // ranges may round
		}
		row, err := p.AddRow(low, up)
		must(err)
		rows = append(rows, row)
		m.RowNames = append(m.RowNames, fmt.Sprintf("row%d", i))
	}
	for range rapid.IntRange(0, 8).Draw(r, "columns") {
		var entries []lp.RowEntry
		for _, row := range rows {
			if rapid.Bool().Draw(r, "in") {
				entries = append(entries, lp.RowEntry{Row: row, Value: number.Draw(r, "a")})
			}
		}
		low, up := span()
		c, err := p.AddCol(number.Draw(r, "cost"), low, up, entries...)
		must(err)
		must(p.SetInteger(c, rapid.Bool().Draw(r, "integer")))
	}
	return m
}

func TestMPS_round_trip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := models(r)
		var file bytes.Buffer
		if err := lp.WriteMPS(&file, m); err != nil {
			r.Fatal(err)
		}
		back, err := lp.ReadMPS(bytes.NewReader(file.Bytes()), lp.MPSOptions{})
		if err != nil {
			r.Fatalf("%v\n%s", err, file.String())
		}
		if d := cmp.Diff(describe(m), describe(back)); d != "" {
			r.Fatalf("(-written +read)\n%s\n%s", d, file.String())
		}
	})
}

func TestWriteMPS_leaves_holes_out(t *testing.T) {
	p := &lp.Problem{}
	a, _ := p.AddRow(0, 1)
	b, _ := p.AddRow(0, 2)
	c, _ := p.AddCol(1, 0, 1, lp.RowEntry{Row: a, Value: 1}, lp.RowEntry{Row: b, Value: 2})
	_, _ = p.AddCol(2, 0, 1, lp.RowEntry{Row: b, Value: 3})
	if err := errors.Join(p.RemoveRow(a), p.RemoveCols(c)); err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := lp.WriteMPS(&file, &lp.Model{Problem: p}); err != nil {
		t.Fatal(err)
	}
	want := `NAME
ROWS
 N obj
 G r1
COLUMNS
 c1 obj 2
 c1 r1 3
RHS
RANGES
 RNG r1 2
BOUNDS
 UP BND c1 1
ENDATA
`
	if d := cmp.Diff(want, file.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestWriteMPS_refuses_names(t *testing.T) {
	p := &lp.Problem{}
	_, _ = p.AddCol(1, 0, 1)
	_, _ = p.AddCol(1, 0, 1)
	for want, names := range map[string][]string{
		`column 0: name "a b", want one word that does not begin with $`: {"a b"},
		`column 1: name "$x", want one word that does not begin with $`:  {"x", "$x"},
		`column 1: name "x", want another: index 0 has it`:               {"x", "x"},
		`column 1: name "c0", want another: index 0 has it`:              {"", "c0"},
	} {
		if err := lp.WriteMPS(&strings.Builder{}, &lp.Model{Problem: p, ColNames: names}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// FuzzReadMPS reads anything without a crash; what it reads can be written, unless
// a name cannot, and reads the same again.
func FuzzReadMPS(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte("NAME\nENDATA"))
	f.Add([]byte("ROWS\n N o\n L a\nCOLUMNS\n x a 1\nRHS\n a 1\nRANGES\n a -1\nBOUNDS\n FR x\nENDATA"))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := lp.ReadMPS(bytes.NewReader(file), lp.MPSOptions{MemoryLimit: 100_000_000})
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if lp.WriteMPS(&once, m) != nil {
			return
		}
		again, err := lp.ReadMPS(bytes.NewReader(once.Bytes()), lp.MPSOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, once.String())
		}
		if err := lp.WriteMPS(&twice, again); err != nil || once.String() != twice.String() {
			t.Fatalf("%v: written again\n%s\nfirst\n%s", err, twice.String(), once.String())
		}
	})
}
