package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/oxgang/oxgang/internal/printable"
)

const rowGroup = 1 << 16

type parquetSink struct {
	to     *parquet.GenericWriter[any]
	held   int
	buffer parquet.Row
}

func newParquet(w io.Writer, columns []field) *parquetSink {
	return &parquetSink{
		to:     parquet.NewGenericWriter[any](w, schema(columns), parquet.Compression(&parquet.Snappy), parquet.CreatedBy("oxgang", "", "")),
		buffer: make(parquet.Row, len(columns)),
	}
}

// schema uses fields of a struct: a parquet.Group would sort them.
func schema(columns []field) *parquet.Schema {
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		fields[i] = reflect.StructField{Name: fmt.Sprintf("C%d", i), Type: c.Type.goType(), Tag: reflect.StructTag(fmt.Sprintf(`parquet:"c%d,optional%s"`, i, c.Type.tag()))}
	}
	return parquet.NewSchema("table", renamed{parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Elem().Interface()), columns})
}

type renamed struct {
	parquet.Node
	columns []field
}

func (r renamed) Fields() []parquet.Field {
	fields := r.Node.Fields()
	for i := range fields {
		fields[i] = named{fields[i], r.columns[i].Name}
	}
	return fields
}

type named struct {
	parquet.Field
	name string
}

func (n named) Name() string { return n.name }

func (k fieldType) goType() reflect.Type {
	switch k {
	case integers:
		return reflect.TypeFor[int64]()
	case texts:
		return reflect.TypeFor[string]()
	default:
		return reflect.TypeFor[float64]()
	}
}

func (k fieldType) tag() string {
	if k == texts {
		return ",dict"
	}
	return ""
}

func (s *parquetSink) row(values []any) error {
	for i, v := range values {
		if v == nil {
			s.buffer[i] = parquet.NullValue().Level(0, 0, i)
		} else {
			s.buffer[i] = parquet.ValueOf(v).Level(0, 1, i)
		}
	}
	if _, err := s.to.WriteRows([]parquet.Row{s.buffer}); err != nil {
		return err
	}
	if s.held++; s.held < rowGroup {
		return nil
	}
	s.held = 0
	return s.to.Flush()
}

func (s *parquetSink) close() error { return s.to.Close() }

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
