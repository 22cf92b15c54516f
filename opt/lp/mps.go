package lp

import "strconv"

// A Model is a problem with names, as MPS files hold it.
type Model struct {
	Name    string
	Problem *Problem
	// Maximize says that the file maximises. Problem, which is minimised, then has
	// the file's objective times -1, the offset included.
	Maximize bool
	// Objective names the row of the costs; empty: obj.
	Objective string
	// ColNames and RowNames go by Col.Index and Row.Index. Where they are short or
	// empty the name is c or r and the index.
	ColNames, RowNames []string
}

// ColName returns the name of the column at index j.
func (m *Model) ColName(j int) string { return nameOf(m.ColNames, "c", j) }

// RowName returns the name of the row at index i.
func (m *Model) RowName(i int) string { return nameOf(m.RowNames, "r", i) }

func nameOf(names []string, letter string, index int) string {
	if index < len(names) && names[index] != "" {
		return names[index]
	}
	return letter + strconv.Itoa(index)
}

// Sections of a file.
const (
	mpsName    = "NAME"
	mpsRows    = "ROWS"
	mpsColumns = "COLUMNS"
	mpsRHS     = "RHS"
	mpsRanges  = "RANGES"
	mpsBounds  = "BOUNDS"
	mpsSense   = "OBJSENSE"
	mpsEnd     = "ENDATA"
)

// mpsInfinite is the size from which a side or bound in a file is infinite.
const mpsInfinite = 1e30
