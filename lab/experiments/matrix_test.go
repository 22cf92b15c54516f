package experiments

import (
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// TestPolicyMatrix_has_every_kind: every generator kind, and every family's jobs can be read.
func TestPolicyMatrix_has_every_kind(t *testing.T) {
	m, err := LoadMatrix()
	if err != nil {
		t.Fatal(err)
	}
	data := testdata.Path(t, ".")
	kinds := map[string]bool{}
	for i := range m.Families {
		configs, err := m.configs(&m.Families[i], "sia", data)
		if err != nil {
			t.Errorf("%s: %v", m.Families[i].Name, err)
		}
		for _, c := range configs {
			in, err := run.Load(c, diskFiles())
			if err != nil || len(in.Arrivals) < 20 {
				t.Errorf("%s: %v, want at least 20 jobs", m.Families[i].Name, err)
			}
			if c.Trace == "" {
				kinds[c.Generate.Kind] = true
			} else {
				kinds[m.Families[i].Name] = true
			}
		}
	}
	for _, k := range generate.Kinds() {
		if !kinds[k.Name] {
			t.Errorf("no family of the kind %s", k.Name)
		}
	}
}

// TestPolicyMatrix_goes_on: a policy that cannot run has a row that says why, and takes nobody
// else's with it; one that takes too long likewise. The best of a column is of those that ended.
func TestPolicyMatrix_goes_on(t *testing.T) {
	m, err := LoadMatrix()
	if err != nil {
		t.Fatal(err)
	}
	m.Families = slices.DeleteFunc(m.Families, func(f Family) bool { return f.Name != "rigid" })
	o := MatrixOptions{Files: noFiles(), Policies: []string{"srtf", "easy"}}
	cells, err := m.Run(t.Context(), o)
	if err != nil || len(cells) != 2 || cells[0].Why+cells[1].Why != "" || cells[0].Ended != 320 {
		t.Fatalf("%+v, %v, want two policies on two seeds of 160 jobs, all ended", cells, err)
	}
	o.Limit = time.Nanosecond
	late, err := m.Run(t.Context(), o)
	if err != nil || !strings.HasPrefix(late[0].Why, "stopped after 1ns") || late[0].Values != nil {
		t.Fatalf("%+v, %v, want it cut short", late, err)
	}
	late[0].Policy = "late"
	var text strings.Builder
	if err := m.Write(&text, append(cells, late[0])); err != nil {
		t.Fatal(err)
	}
	best := "`srtf` | **"
	if cells[1].Values[0] < cells[0].Values[0] {
		best = "`easy` | **"
	}
	for _, want := range []string{"`late` | – |", "- `late`: 0 of 320 jobs ended: stopped", best} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
}

// TestPolicyMatrix_names_what_is_unknown: families and policies that are not there.
func TestPolicyMatrix_names_what_is_unknown(t *testing.T) {
	m, err := LoadMatrix()
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]MatrixOptions{
		`family "sai" is not known, want one of sia-philly, `:  {Families: []string{"sai"}},
		`policy "sai" is not known, want one of oxgang, sia, `: {Policies: []string{"sai"}},
	} {
		if _, err := m.Run(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	w := &matrixWriter{cells: []Cell{{Family: "f", Policy: "p", Values: []float64{math.NaN()}}}}
	if got := w.figure(&w.cells[0], "f", 0); got != "–" {
		t.Errorf("a figure that is none is %q", got)
	}
}

func diskFiles() run.Files {
	return run.Files{
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Dir:  os.DirFS,
	}
}

func noFiles() run.Files {
	fsys := fstest.MapFS{}
	return run.Files{
		Open: func(name string) (io.ReadCloser, error) { return fsys.Open(path.Clean(name)) },
		Dir:  func(string) fs.FS { return fsys },
	}
}
