package profiles

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/simulate/workload"
)

func measured(t testing.TB) workload.Catalog {
	t.Helper()
	testdata.Path(t, "sia/profiles") // skips every test, not only the first
	readOnce.Do(func() { readCatalog = readShared(t) })
	return readCatalog
}

func readShared(t testing.TB) workload.Catalog {
	t.Helper()
	f, err := os.Open(testdata.Path(t, "sia/derived/offtable_wholenode.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := ReadProfiles(os.DirFS(testdata.Path(t, "sia/profiles")), f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	readOnce    sync.Once
	readCatalog workload.Catalog
)

// goldenRows returns the data lines of a golden CSV file.
func goldenRows(t *testing.T, rel string) [][]string {
	t.Helper()
	f, err := os.Open(testdata.Path(t, rel))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// TestGoldenThroughput compares every look-up of the public simulator that is
// on record. Off-table rows are stored with 8 decimals, hence the absolute
// part of the tolerance.
func TestGoldenThroughput(t *testing.T) {
	catalog := measured(t)
	rows := goldenRows(t, "sia/golden/throughput.csv")
	if len(rows) != 598 {
		t.Fatalf("%d golden rows, want 598", len(rows))
	}
	for _, r := range rows {
		var shape []int
		for digit := range strings.SplitSeq(r[2], "-") {
			shape = append(shape, int(parse(t, digit)))
		}
		speed, g := catalog[r[0]].Speed, typeOf(r[1])
		step, sync, ok := speed.Step(g, shape, int(parse(t, r[3])))
		if !ok || differ(step, parse(t, r[5]), len(shape)) || differ(sync, parse(t, r[6]), len(shape)) {
			t.Errorf("%v: got %.10g, %.10g, %v", r, step, sync, ok)
		}
		if _, most := speed.LocalRange(g, shape); most != int(parse(t, r[4])) {
			t.Errorf("%v: largest local batch %d", r, most)
		}
	}
}

// differ reports whether a time differs from the golden one, by more than
// rounding if its shape may be off the table.
func differ(got, want float64, nodes int) bool {
	rounding := 0.0
	if nodes > 2 {
		rounding = 5.1e-9
	}
	return math.Abs(got-want) > 1e-9*math.Abs(want)+rounding
}

func parse(t *testing.T, field string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(field, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
