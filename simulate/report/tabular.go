package report

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// A TableFormat is csv or parquet. It is also the extension of the files.
type TableFormat string

const (
	csvTable     TableFormat = "csv"
	parquetTable TableFormat = "parquet"
)

func tableFormats() []TableFormat { return []TableFormat{csvTable, parquetTable} }

// ParseTableFormat returns the format of a name.
func ParseTableFormat(name string) (TableFormat, error) {
	if f := TableFormat(name); slices.Contains(tableFormats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("format %q, want one of %v", name, tableFormats())
}

type fieldType uint8

const (
	numbers  fieldType = iota // float64
	integers                  // int64
	texts                     // string
)

type field struct {
	Name string
	Type fieldType
}

type tableWriter struct {
	columns []field
	to      sink
	rows    int
}

type sink interface {
	row(values []any) error
	close() error
}

// newTableWriter returns a tableWriter that writes a table to w. Column names must be unique and not empty. Close does
// not close w.
func newTableWriter(w io.Writer, f TableFormat, columns []field) (*tableWriter, error) {
	for i, c := range columns {
		if c.Name == "" || slices.ContainsFunc(columns[:i], func(o field) bool { return o.Name == c.Name }) {
			return nil, fmt.Errorf("tabular: column %d: the name %q is empty or used twice", i, c.Name)
		}
	}
	t := &tableWriter{columns: columns}
	var err error
	switch f {
	case csvTable:
		t.to, err = newCSV(w, columns)
	case parquetTable:
		t.to = newParquet(w, columns)
	default:
		_, err = ParseTableFormat(string(f))
	}
	if err != nil {
		return nil, fmt.Errorf("tabular: %w", err)
	}
	return t, nil
}

// Row writes one row, with one value per column; nil means unknown. An infinite number or NaN is written as unknown.
func (t *tableWriter) Row(values ...any) error {
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

func (k fieldType) has(v any) bool {
	switch v.(type) {
	case float64:
		return k == numbers
	case int64:
		return k == integers
	case string:
		return k == texts
	}
	return false
}

// Close flushes the table.
func (t *tableWriter) Close() error {
	if err := t.to.close(); err != nil {
		return fmt.Errorf("tabular: %w", err)
	}
	return nil
}
