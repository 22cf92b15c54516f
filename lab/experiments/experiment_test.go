package experiments

import (
	"context"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/run"
)

func osFiles() run.Files {
	return run.Files{
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Dir:  os.DirFS,
	}
}

func TestParseBand(t *testing.T) {
	inf := math.Inf(1)
	for _, tc := range []struct {
		text            string
		want, low, high float64
	}{
		{"0.6 +- 0.1", 0.6, 0.5, 0.7},
		{"8 +- 25%", 8, 6, 10},
		{"<= 1.2", 1.2, -inf, 1.2},
		{">= 100", 100, 100, inf},
		{"9.5", 9.5, -inf, inf},
		{"-", 0, -inf, inf},
	} {
		b, err := parseBand(tc.text)
		if err != nil || b.Published != tc.want || math.Abs(b.Low-tc.low) > 1e-12 || math.Abs(b.High-tc.high) > 1e-12 {
			t.Errorf("%q: got %+v, %v, want %v in %v to %v", tc.text, b, err, tc.want, tc.low, tc.high)
		}
	}
	for _, bad := range []string{"", "x", "1 +- ", "1 +- y%", "NaN", "<= Inf", "1 2 3 4"} {
		if b, err := parseBand(bad); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, b)
		}
	}
}

func TestLibraryParses(t *testing.T) {
	ci := 0
	for _, name := range Names() {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if e.CI {
			ci++
		}
		for i := range e.Runs {
			if _, err := e.configs(&e.Runs[i], "data"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if ci == 0 {
		t.Error("no experiment is marked ci")
	}
}

func TestParseErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"titel: x", "titel"},
		{"runs: [{name: a, policy: sia}]\nchecks: [{run: b, published: {jct_mean_h: 1}}]", `run "b"`},
		{"runs: [{name: a, policy: sia}]\nchecks: [{run: [a, b], published: {jct_mean_h: 1}}]", `run "a, b"`},
		{"runs: [{name: a, policy: sia}]\nchecks: [{run: a, over: [a, b], published: {jct_mean_h: 1}}]", `over "a, b"`},
		{"runs: [{name: a, policy: sia}]\nchecks: [{over: a, published: {jct_mean_h: 1}}]", `run ""`},
		{"checks: [{run: a, published: {jct: 1}}]", `line 1: metric "jct"`},
		{"checks: [{run: a, published: {jct_mean_h: about 1}}]", `"about 1"`},
		{"runs: [{name: a, policy: sia}, {name: a, policy: fifo}]", `run "a"`},
	} {
		if _, err := parse("x/y", []byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: got error %v, want %q", tc.text, err, tc.want)
		}
	}
	if _, err := Find("sia/table-9"); err == nil || !strings.Contains(err.Error(), "sia/table-3.3") {
		t.Errorf("unknown experiment: got error %v, want the known ones", err)
	}
}

// A check of several runs has their mean, over that of others if there are any.
func TestChecksOfSeveralRuns(t *testing.T) {
	e, err := parse("x/y", []byte(`
runs: [{name: a, policy: sia}, {name: b, policy: fifo}, {name: c, policy: srtf}]
checks:
  - {run: a, published: {done: 2}}
  - {run: [a, b], published: {done: 3}}
  - {run: [a, b], over: c, published: {done: 0.5 +- 0}}
  - {name: those, run: c, over: [b, a], published: {done: <= 1.5}}
  - {name: aims, run: c, wanted: {done: <= 5}}
  - {name: met, run: c, published: {done: 6}, wanted: {done: <= 6}}`))
	if err != nil {
		t.Fatal(err)
	}
	of := func(n int) []measured { return []measured{{Summary: metrics.Summary{Done: n}}} }
	results := map[string][]measured{"a": of(2), "b": of(4), "c": of(6)}
	found := e.compare(func(c *Check, m metric) float64 { return c.figure(m, results) })
	for i, want := range []struct {
		row     string
		ours    float64
		verdict Verdict
	}{{"a", 2, Shown}, {"a, b", 3, Shown}, {"a, b / c", 0.5, Within}, {"those", 2, Outside}, {"aims", 6, Short}, {"met", 6, Shown}, {"met", 6, Within}} {
		if f := found[i]; f.Row != want.row || f.Ours != want.ours || f.Verdict != want.verdict {
			t.Errorf("got %s of %v (%s), want %+v", f.Row, f.Ours, f.Verdict, want)
		}
	}
}

// TestReproduce runs the smallest experiment of the library, and shows that a
// band which does not hold is found out.
func TestReproduce(t *testing.T) {
	e, err := Find("sia/gpt")
	if err != nil {
		t.Fatal(err)
	}
	impossible, _ := parseBand("<= 0")
	e.Checks = append(e.Checks, Check{Run: Group{"alone"}, Published: Figures{{"jct_mean_h", impossible}}})
	found, err := e.Reproduce(context.Background(), Options{Files: osFiles()})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range found {
		want := Within
		switch {
		case f.Band == "-":
			want = Shown
		case i == len(found)-1:
			want = Outside
		}
		if f.Verdict != want {
			t.Errorf("%s %s: got %v (%s), want %s", f.Row, f.Metric, f.Ours, f.Verdict, want)
		}
	}
}

// TestProfilesAndTraces runs a trace of the shared data on its measured
// profiles under every mode of belief.
func TestProfilesAndTraces(t *testing.T) {
	data := testdata.Path(t, "sia")
	for _, mode := range []string{"bootstrap", "no-prof", "oracle", "public-code"} {
		e, err := parse("test", []byte(`
config: {cluster: hetero64, limit: 20, profiles: '{data}/profiles', trace: '{data}/traces/philly/workload-1.csv', estimate.mode: `+mode+`}
runs: [{name: a, policy: sia}]
checks: [{run: a, published: {done: 20 +- 0, rho_worst: '>= 0.1'}}]`))
		if err != nil {
			t.Fatal(err)
		}
		found, err := e.Reproduce(t.Context(), Options{Files: osFiles(), Data: data})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Verdict != Within {
				t.Errorf("%s: %s is %v, want %s", mode, f.Metric, f.Ours, f.Band)
			}
		}
	}
}

// An experiment that cannot be run as a whole does not begin.
func TestReproduce_complains_first(t *testing.T) {
	e, err := parse("x", []byte("config: {trace: t}\nruns: [{name: a, policy: fifo}, {name: b, policy: fifo, config: {scale: none}}]"))
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan string, 1)
	files := run.Files{Open: func(name string) (io.ReadCloser, error) {
		opened <- name
		return nil, io.ErrUnexpectedEOF
	}}
	if _, err := e.Reproduce(t.Context(), Options{Files: files}); err == nil || !strings.Contains(err.Error(), "scale") || len(opened) > 0 {
		t.Errorf("got error %v, %d files opened, want a complaint of the scale, and none", err, len(opened))
	}
}
