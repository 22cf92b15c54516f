package report

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

var testFields = []field{{Name: "job", Type: texts}, {Name: "set p=-1, \"q\"", Type: numbers}, {Name: "gpus", Type: integers}}

func TestWriter_csv(t *testing.T) {
	var out bytes.Buffer
	write(t, &out, csvTable, []any{"a,b", 1.5, int64(-3)}, []any{nil, math.NaN(), nil}, []any{"=1+1", math.Inf(1), int64(0)})
	want := "job,\"set p=-1, \"\"q\"\"\",gpus\n\"a,b\",1.5,-3\n,,\n'=1+1,,0\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// A reader of the library finds the names in their order, and every value; Python's readers do so in
// python/tests.
func TestWriter_parquet(t *testing.T) {
	var out bytes.Buffer
	write(t, &out, parquetTable, []any{"a,b", 1.5, int64(-3)}, []any{nil, math.NaN(), nil}, []any{"", 0.0, int64(1) << 60})
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range f.Root().Columns() {
		names = append(names, c.Name())
	}
	if diff := cmp.Diff([]string{"job", "set p=-1, \"q\"", "gpus"}, names); diff != "" {
		t.Error(diff)
	}
	rows := make([]parquet.Row, 4)
	n, err := parquet.NewReader(f).ReadRows(rows)
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows[:n] {
		var cells []string
		for _, v := range row {
			cells = append(cells, v.String())
		}
		got = append(got, strings.Join(cells, "|"))
	}
	want := []string{"a,b|1.5|-3", "<null>|<null>|<null>", "|0|1152921504606846976"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func write(t *testing.T, to io.Writer, f TableFormat, rows ...[]any) {
	t.Helper()
	w, err := newTableWriter(to, f, testFields)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Row(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A table of a million rows is written in the memory of one of a hundred thousand.
func TestWriter_memory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a million rows")
	}
	for _, f := range tableFormats() {
		few, many := heldBy(t, f, 200_000), heldBy(t, f, 1_000_000)
		if many > few+4<<20 {
			t.Errorf("%s: %d MiB are held after a million rows, %d after 200,000", f, many>>20, few>>20)
		}
	}
}

// heldBy returns the bytes that are held before the last row is written.
func heldBy(t *testing.T, f TableFormat, rows int64) uint64 {
	t.Helper()
	w, err := newTableWriter(io.Discard, f, testFields)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if err := w.Row("job", float64(i), i); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.HeapAlloc
}

func TestWriter_errors(t *testing.T) {
	var out bytes.Buffer
	if _, err := newTableWriter(&out, "xlsx", testFields); err == nil || !strings.Contains(err.Error(), `format "xlsx", want one of [csv parquet]`) {
		t.Errorf("an unknown format: %v", err)
	}
	if _, err := newTableWriter(&out, csvTable, []field{{Name: "a"}, {Name: "a"}}); err == nil {
		t.Error("two testFields of one name are taken")
	}
	w, err := newTableWriter(&out, csvTable, testFields)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]any{{"a"}, {1.0, 1.0, int64(1)}, {"a", int64(1), int64(1)}, {"a", 1.0, 1.0}, {"a", 1.0, 1}} {
		if err := w.Row(row...); err == nil {
			t.Errorf("%v is taken", row)
		}
	}
}
