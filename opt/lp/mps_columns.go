package lp

import "math"

// column reads a line of the section COLUMNS.
func (m *mpsReader) column() error {
	f := m.fields
	if len(f) == 3 && string(f[1].text) == "'MARKER'" {
		switch string(f[2].text) {
		case "'INTORG'":
			return m.mark(true)
		case "'INTEND'":
			return m.mark(false)
		}
		return m.failAt(f[2], "marker %q, want 'INTORG' or 'INTEND'", f[2].text)
	}
	if len(f) != 3 && len(f) != 5 {
		return m.failAt(f[0], "%d words, want a column and one or two pairs of row and number", len(f))
	}
	begins := !m.begun || m.name != string(f[0].text)
	if begins {
		if _, twice := m.cols[string(f[0].text)]; twice {
			return m.failAt(f[0], "column %q again, want its lines together", f[0].text)
		}
	}
	var found [2]struct {
		row   int
		value float64
	}
	n := len(f) / 2
	for k := range n {
		var err error
		if found[k].row, err = m.entryRow(f[1+2*k], begins); err != nil {
			return err
		}
		if found[k].value, err = m.number(f[2+2*k], false); err != nil {
			return err
		}
	}
	if n == 2 && found[0].row == found[1].row {
		return m.failAt(f[3], "row %q twice in column %q, want once", f[3].text, f[0].text)
	}
	if begins {
		if err := m.begin(string(f[0].text)); err != nil {
			return err
		}
	}
	for _, e := range found[:n] {
		if e.row < 0 {
			m.cost, m.costSeen = e.value, true
			continue
		}
		m.row[e.row].last = len(m.col) + 1
		m.entries = append(m.entries, RowEntry{m.row[e.row].handle, e.value})
	}
	return m.roomForEntries()
}

// mark begins or ends the integer columns.
func (m *mpsReader) mark(integer bool) error {
	if err := m.flush(); err != nil {
		return err
	}
	m.integer = integer
	return nil
}

// entryRow returns the place of a row that has no entry of this column yet.
func (m *mpsReader) entryRow(f field, begins bool) (int, error) {
	i, known := m.rows[string(f.text)]
	switch {
	case !known:
		return 0, m.failAt(f, "row %q, want one of ROWS", f.text)
	case begins:
	case i < 0 && m.costSeen, i >= 0 && m.row[i].last == len(m.col)+1:
		return 0, m.failAt(f, "row %q twice in column %q, want once", f.text, m.name)
	}
	return i, nil
}

// begin ends the column that is being read and begins another.
func (m *mpsReader) begin(name string) error {
	if err := m.flush(); err != nil {
		return err
	}
	m.name, m.begun = name, true
	return nil
}

// roomForEntries fails if a column grows beyond the limit.
func (m *mpsReader) roomForEntries() error {
	const often = 1024
	if len(m.entries)%often != 0 {
		return nil
	}
	if err := m.model.Problem.room(1, 0, 2*len(m.entries)); err != nil {
		return m.fail(0, "column %q: %w", m.name, err)
	}
	return nil
}

// flush adds the column that was read.
func (m *mpsReader) flush() error {
	if !m.begun {
		return nil
	}
	m.keep(m.name)
	p := m.model.Problem
	c, err := p.AddCol(m.cost, 0, Inf, m.entries...)
	if err == nil {
		err = p.SetInteger(c, m.integer)
	}
	if err != nil {
		return m.fail(0, "column %q: %w", m.name, err)
	}
	m.cols[m.name] = len(m.col)
	m.col = append(m.col, mpsCol{})
	m.model.ColNames = append(m.model.ColNames, m.name)
	m.begun, m.costSeen, m.cost, m.entries = false, false, 0, m.entries[:0]
	return nil
}

// pairs reads the pairs of row and number behind the name of a set, if any:
// checks all, then sets all.
func (m *mpsReader) pairs(check func(row, number field) (int, float64, error), set func(i int, v float64)) error {
	f := m.fields
	if len(f) > 5 || len(f) < 2 {
		return m.failAt(f[0], "%d words, want one or two pairs of row and number, perhaps behind the name of a set", len(f))
	}
	var name field
	if len(f)%2 == 1 {
		name, f = f[0], f[1:]
		if err := m.checkSet(name); err != nil {
			return err
		}
	}
	if len(f) == 4 && string(f[0].text) == string(f[2].text) {
		return m.failAt(f[2], "row %q twice, want once", f[2].text)
	}
	var rows [2]int
	var values [2]float64
	for k := range len(f) / 2 {
		var err error
		if rows[k], values[k], err = check(f[2*k], f[2*k+1]); err != nil {
			return err
		}
	}
	for k := range len(f) / 2 {
		set(rows[k], values[k])
	}
	m.inSet(name)
	return nil
}

// checkSet checks that a section has one set.
func (m *mpsReader) checkSet(f field) error {
	if name, found := m.sets[m.section]; found && name != string(f.text) {
		return m.failAt(f, "second set %q in %s, want %q only", f.text, m.section, name)
	}
	return nil
}

// inSet notes the name of a section's set.
func (m *mpsReader) inSet(f field) {
	if f.text != nil {
		m.sets[m.section] = string(f.text)
	}
}

func (m *mpsReader) checkRHS(row, number field) (int, float64, error) {
	i, known := m.rows[string(row.text)]
	if !known {
		return 0, 0, m.failAt(row, "row %q, want one of ROWS", row.text)
	}
	v, err := m.number(number, i >= 0)
	switch {
	case err != nil:
		return 0, 0, err
	case i < 0:
	case m.row[i].kind == 'N':
		return 0, 0, m.failAt(row, "right-hand side of row %q of kind N, want none", row.text)
	case m.row[i].hasRHS:
		return 0, 0, m.failAt(row, "second right-hand side of row %q, want one", row.text)
	case math.IsInf(v, 0) && (m.row[i].kind == 'E' || (v > 0) != (m.row[i].kind == 'L')):
		return 0, 0, m.failAt(number, "%q as right-hand side of a row of kind %c, want finite", number.text, m.row[i].kind)
	}
	return i, v, nil
}

func (m *mpsReader) setRHS(i int, v float64) {
	if i < 0 {
		m.model.Problem.Offset = 0 - v
		return
	}
	m.row[i].rhs, m.row[i].hasRHS = v, true
}

func (m *mpsReader) checkRange(row, number field) (int, float64, error) {
	i, known := m.rows[string(row.text)]
	switch {
	case !known:
		return 0, 0, m.failAt(row, "row %q, want one of ROWS", row.text)
	case i < 0 || m.row[i].kind == 'N':
		return 0, 0, m.failAt(row, "range of row %q of kind N, want none", row.text)
	case m.row[i].hasRange:
		return 0, 0, m.failAt(row, "second range of row %q, want one", row.text)
	}
	v, err := m.number(number, false)
	return i, v, err
}

func (m *mpsReader) setRange(i int, v float64) { m.row[i].rng, m.row[i].hasRange = v, true }

// sides returns the sides of a row.
func (r *mpsRow) sides() (low, up float64) {
	size := math.Abs(r.rng)
	switch {
	case r.kind == 'N':
		return -Inf, Inf
	case r.kind == 'E' && r.rng < 0:
		return r.rhs - size, r.rhs
	case r.kind == 'E':
		return r.rhs, r.rhs + size
	case r.kind == 'L' && r.hasRange:
		return r.rhs - size, r.rhs
	case r.kind == 'L':
		return -Inf, r.rhs
	case r.hasRange:
		return r.rhs, r.rhs + size
	default:
		return r.rhs, Inf
	}
}
