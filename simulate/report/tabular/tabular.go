// Package tabular writes typed columns as CSV or Parquet, in bounded memory.
package tabular

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// A Format is csv or parquet; it is also the extension of files.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// Formats returns all formats.
func Formats() []Format { return []Format{CSV, Parquet} }

// ParseFormat returns the format of a name. Its error lists all formats.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("format %q, want one of %v", name, Formats())
}

// A Type is the type of the values in a column.
type Type uint8

// The types.
const (
	Number  Type = iota // float64
	Integer             // int64
	Text                // string
)

// A Column of a table has a name, with its unit, and a type.
type Column struct {
	Name string
	Type Type
}

// A Writer writes a table. Not safe for concurrent use.
type Writer struct {
	columns []Column
	to      sink
	rows    int
}

// A sink writes typed values, or nil.
type sink interface {
	row(values []any) error
	close() error
}

// New returns a Writer that writes a table to w. Column names must be unique and not empty. Close does not close
// w.
func New(w io.Writer, f Format, columns []Column) (*Writer, error) {
	for i, c := range columns {
		if c.Name == "" || slices.ContainsFunc(columns[:i], func(o Column) bool { return o.Name == c.Name }) {
			return nil, fmt.Errorf("tabular: column %d: the name %q is empty or used twice", i, c.Name)
		}
	}
	t := &Writer{columns: columns}
	var err error
	switch f {
	case CSV:
		t.to, err = newCSV(w, columns)
	case Parquet:
		t.to = newParquet(w, columns)
	default:
		_, err = ParseFormat(string(f))
	}
	if err != nil {
		return nil, fmt.Errorf("tabular: %w", err)
	}
	return t, nil
}

// Row writes one row: a value for each column, or nil if unknown. A number that is not finite counts as unknown.
// It returns an error for a wrong number or type of values, or if writing fails.
func (t *Writer) Row(values ...any) error {
	if len(values) != len(t.columns) {
		return fmt.Errorf("tabular: row %d has %d values, want %d", t.rows, len(values), len(t.columns))
	}
	for i, v := range values {
		if x, ok := v.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
			values[i] = nil
		} else if v != nil && !t.columns[i].Type.has(v) {
			return fmt.Errorf("tabular: row %d: column %s has a %T", t.rows, t.columns[i].Name, v)
		}
	}
	t.rows++
	if err := t.to.row(values); err != nil {
		return fmt.Errorf("tabular: row %d: %w", t.rows-1, err)
	}
	return nil
}

func (k Type) has(v any) bool {
	switch v.(type) {
	case float64:
		return k == Number
	case int64:
		return k == Integer
	case string:
		return k == Text
	}
	return false
}

// Close flushes the table.
func (t *Writer) Close() error {
	if err := t.to.close(); err != nil {
		return fmt.Errorf("tabular: %w", err)
	}
	return nil
}
