package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/oxgang/oxgang/internal/printable"
)

type csvSink struct {
	to     *csv.Writer
	fields []string
}

func newCSV(w io.Writer, columns []field) (*csvSink, error) {
	s := &csvSink{to: csv.NewWriter(w), fields: make([]string, len(columns))}
	for i, c := range columns {
		s.fields[i] = printable.Cell(c.Name)
	}
	return s, s.to.Write(s.fields)
}

func (s *csvSink) row(values []any) error {
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			s.fields[i] = ""
		case float64:
			s.fields[i] = strconv.FormatFloat(v, 'g', -1, 64)
		case int64:
			s.fields[i] = strconv.FormatInt(v, 10)
		case string:
			s.fields[i] = printable.Cell(v)
		}
	}
	return s.to.Write(s.fields)
}

func (s *csvSink) close() error {
	s.to.Flush()
	return s.to.Error()
}
