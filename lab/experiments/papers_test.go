package experiments

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
)

var update = flag.Bool("update", false, "write docs/experiments/reproduced.md")

// Every experiment of a paper is listed below one of its figures, and every figure has an experiment, a test or a
// reason.
func TestPapers_list_every_experiment(t *testing.T) {
	papers, err := Papers()
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, p := range papers {
		for _, f := range p.Figures {
			listed = append(listed, f.Run...)
			if f.Figure == "" || f.Shows == "" || len(f.Run) == 0 && f.Test == "" && f.Why == "" {
				t.Errorf("%s, %q: want what it shows, and an experiment, a test or a reason", p.Name, f.Figure)
			}
		}
	}
	for _, name := range listed {
		if !slices.Contains(Names(), name) {
			t.Errorf("experiment %s is listed but does not exist", name)
		}
	}
	for _, name := range Names() {
		if !slices.Contains(listed, name) && !strings.HasPrefix(name, "oxgang/") && name != "sia/cells" {
			t.Errorf("experiment %s is below no figure of papers.yaml", name)
		}
	}
}

// The captions of the papers name no figure or table that is not listed.
func TestPapers_list_every_caption(t *testing.T) {
	papers, err := Papers()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"sia": "sia-copter-thesis", "copter": "sia-copter-thesis", "synergy": "synergy", "shockwave": "shockwave", "lyra": "lyra", "boa": "boa-constrictor"}
	caption := regexp.MustCompile(`(?m)^\W*(Fig\.|Figure|Table) (\d+(?:\.\d+)?)[.:](?:\s|$)`)
	for _, p := range papers {
		text, err := os.ReadFile(filepath.Join(testdata.Path(t, ".."), "papers", files[p.Name]+".txt"))
		if err != nil {
			t.Skip(err)
		}
		for _, m := range caption.FindAllStringSubmatch(string(text), -1) {
			kind, number := strings.Replace(m[1], "Fig.", "Figure", 1), m[2]
			chapter := strings.HasPrefix(number, "4.") || strings.HasPrefix(number, "5.")
			if files[p.Name] == files["copter"] && (chapter != (p.Name == "copter") || strings.HasPrefix(number, "2.")) {
				continue
			}
			if !slices.ContainsFunc(p.Figures, func(f PaperFigure) bool { return covers(f.Figure, kind, number) }) {
				t.Errorf("%s: %s %s is not in papers.yaml", p.Name, kind, number)
			}
		}
	}
}

var numbers = regexp.MustCompile(`(\d+(?:\.\d+)?)(?: to (\d+))?`)

// covers reports whether a title such as "Tables 1 to 3 and Fig. 3" names the Table or Figure with a number.
func covers(title, kind, number string) bool {
	current := ""
	for part := range strings.SplitSeq(title, " and ") {
		switch {
		case strings.HasPrefix(part, "Table"):
			current = "Table"
		case strings.HasPrefix(part, "Fig"):
			current = "Figure"
		}
		for _, m := range numbers.FindAllStringSubmatch(part, -1) {
			between := m[2] != "" && len(number) == 1 && m[1] <= number && number <= m[2]
			if current == kind && (m[1] == number || between) {
				return true
			}
		}
	}
	return false
}

// The page has the stored runs and the present bands. A record of other runs is an error.
func TestPage(t *testing.T) {
	var page bytes.Buffer
	if err := writePapers(&page); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(testdata.Root(t), "docs", "experiments", "reproduced.md")
	if *update {
		if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, page.Bytes()) {
		t.Errorf("%s is not what the stored runs and papers.yaml give (%v): run go test ./lab/experiments -run TestPage -update", path, err)
	}
}

// The gate takes at most two minutes of processor time, and --quick ten.
func TestRecords_fit_the_time(t *testing.T) {
	quick, err := Quick()
	if err != nil {
		t.Fatal(err)
	}
	all, err := records()
	if err != nil {
		t.Fatal(err)
	}
	ci, short := 0.0, 0.0
	for _, r := range all {
		if r.Commit == "" || len(r.CPU) == 0 {
			t.Errorf("%s: commit %q, times %v: want both", r.Experiment, r.Commit, r.CPU)
		}
		if e, err := Find(r.Experiment); err != nil {
			t.Error(err)
		} else if e.CI {
			ci += r.seconds()
		}
		if slices.Contains(quick, r.Experiment) {
			short += r.seconds()
		}
	}
	if ci > 120 || short > 600 {
		t.Errorf("--ci takes %.0f processor seconds, --quick %.0f; want at most 120 and 600", ci, short)
	}
}

// Every experiment reports its progress within two seconds, before its first simulation.
func TestReproduce_reports_at_once(t *testing.T) {
	stop := errors.New("stop")
	for _, name := range Names() {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		o := Options{Files: osFiles(), Data: "data", Report: func(*Experiment, int, int) error { return stop }}
		if _, err := e.Reproduce(ctx, o); !errors.Is(err, stop) {
			t.Fatalf("%s: %v, want a report within 2s", name, err)
		}
	}
}

// Every check of a paper with a stored figure outside its band states why, and no other check does.
func TestRecords_state_why_figures_are_outside(t *testing.T) {
	all, err := records()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		e, err := Find(r.Experiment)
		if err != nil {
			t.Fatal(err)
		}
		_, found, err := stored(r.Experiment)
		if err != nil {
			t.Fatal(err)
		}
		used := make(map[string]bool)
		for _, f := range found {
			used[f.Why] = true
			if f.Verdict == Outside && f.Why == "" {
				t.Errorf("%s, %s: %s is %.4g, outside %s: the check needs a why", e.Name, f.Row, f.Metric, f.Ours, f.Band)
			}
		}
		for _, c := range e.Checks {
			if !used[c.Why] && c.Why != "" {
				t.Errorf("%s, %s: has a why, but no figure outside", e.Name, c.row())
			}
		}
	}
}

// What shows a cause exists: a row that is inside, an experiment or file with the published code's figures, or a command.
// A check without it says that the cause is unknown.
func TestRecords_show_causes(t *testing.T) {
	all, err := records()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		_, found, err := stored(r.Experiment)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if err := f.unshown(found); err != nil {
				t.Errorf("%s, %s, %s: %v", f.Experiment, f.Row, f.Metric, err)
			}
		}
	}
}

func (f *Finding) unshown(all []Finding) error {
	kind, rest, _ := strings.Cut(f.Shown, ": ")
	inside := func(o Finding) bool { return o.Row == rest && o.Metric == f.Metric && o.Verdict == Within }
	public := func() bool { return slices.Contains(Names(), rest) || strings.HasPrefix(rest, "../shared/") }
	switch {
	case f.Verdict != Outside:
	case (f.Shown == "") != strings.HasPrefix(f.Why, "unknown"):
		return fmt.Errorf("why %q, shown %q: want shown, or a why that starts with unknown", f.Why, f.Shown)
	case kind == "row" && !slices.ContainsFunc(all, inside):
		return fmt.Errorf("row %q is not inside its band, or does not exist", rest)
	case kind == "public" && !public():
		return fmt.Errorf("%q is no experiment and no file", rest)
	case kind != "" && kind != "row" && kind != "public" && !strings.HasPrefix(f.Shown, "oxgang lab "):
		return fmt.Errorf("shown by %q, want row, public or a command", f.Shown)
	}
	return nil
}

// A cause without what shows it, and a row that is outside too, are errors.
func TestFinding_unshown(t *testing.T) {
	all := []Finding{{Row: "in", Metric: "done", Verdict: Within}, {Row: "out", Metric: "done", Verdict: Outside}}
	for _, tc := range []struct {
		why, shown string
		ok         bool
	}{
		{"a", "row: in", true},
		{"a", "row: out", false},
		{"a", "row: none", false},
		{"a", "public: sia/gpt", true},
		{"a", "public: sia/none", false},
		{"a", "oxgang lab solvers rounds", true},
		{"a", "trust me", false},
		{"a", "", false},
		{"unknown. Tried: b", "", true},
		{"unknown. Tried: b", "row: in", false},
	} {
		f := Finding{Metric: "done", Verdict: Outside, Why: tc.why, Shown: tc.shown}
		if err := f.unshown(all); (err == nil) != tc.ok {
			t.Errorf("why %q, shown %q: %v, want ok %v", tc.why, tc.shown, err, tc.ok)
		}
	}
}

// A record of other runs, or of other figures, is refused; other bands are applied to it.
func TestFindings_of_a_record(t *testing.T) {
	const runs = "runs: [{name: a, policy: sia}, {name: b, policy: fifo}]\n"
	e := mustParse(t, runs+"checks: [{run: a, published: {done: <= 5}}, {run: b, published: {done: '-'}}]")
	rec, err := e.NewRecord([]Finding{{Row: "a", Metric: "done", Ours: 4}, {Row: "b", Metric: "done", Ours: 7}}, "abc", 1.25)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := rec.Write(&text); err != nil {
		t.Fatal(err)
	}
	if rec, err = ReadRecord("x/y", &text); err != nil {
		t.Fatal(err)
	}
	tight := mustParse(t, runs+"checks: [{run: a, published: {done: <= 3}}, {run: b, published: {done: '-'}}]")
	for _, tc := range []struct {
		e       *Experiment
		outside int
	}{{e, 0}, {tight, 1}} {
		found, err := tc.e.findings(rec)
		if checked, outside := count(found); err != nil || checked != 1 || outside != tc.outside {
			t.Errorf("%d checked, %d outside, %v; want 1 and %d", checked, outside, err, tc.outside)
		}
	}
	for _, other := range []string{
		"runs: [{name: a, policy: srtf}, {name: b, policy: fifo}]\nchecks: [{run: a, published: {done: <= 5}}, {run: b, published: {done: '-'}}]",
		runs + "checks: [{run: a, published: {done: <= 5}}]",
		runs + "checks: [{run: a, published: {jct_mean_h: <= 5}}, {run: b, published: {done: '-'}}]",
	} {
		if _, err := mustParse(t, other).findings(rec); err == nil {
			t.Errorf("a record of other runs or figures is taken for one of %q", other)
		}
	}
}

// The times of earlier records of the same runs stay, the latest first, and their median counts.
func TestRecord_keeps_times(t *testing.T) {
	rec := &Record{Digest: "d", CPU: []float64{9}}
	rec.After(&Record{Digest: "other", CPU: []float64{1}})
	rec.After(&Record{Digest: "d", CPU: []float64{2, 3}})
	if got := rec.seconds(); got != 3 || len(rec.CPU) != 3 || rec.CPU[0] != 9 {
		t.Errorf("times %v, median %v; want 9, 2, 3 and 3", rec.CPU, got)
	}
}

func TestMatch(t *testing.T) {
	for pattern, want := range map[string]string{"lyra": "lyra/defaults", "lyra/...": "lyra/defaults", "sia/table-3.?": "sia/table-3.3", "sia/gpt": "sia/gpt"} {
		if got, err := Match(pattern); err != nil || got[0] != want {
			t.Errorf("%s: got %v, %v, want %s first", pattern, got, err, want)
		}
	}
	for _, bad := range []string{"sia/[", "sia/none", "matrix"} {
		if got, err := Match(bad); err == nil {
			t.Errorf("%s: got %v, want an error", bad, got)
		}
	}
}

func mustParse(t *testing.T, text string) *Experiment {
	t.Helper()
	e, err := parse("x/y", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The processor time of an interrupted command counts when it is repeated.
func TestParts_remember_the_time(t *testing.T) {
	p := Parts(filepath.Join(t.TempDir(), "parts"))
	if got := p.Spent("a/b"); got != 0 {
		t.Errorf("%v before any run, want 0", got)
	}
	if err := p.SetSpent("a/b", 90*time.Second); err != nil || p.Spent("a/b") != 90*time.Second || p.Spent("a/c") != 0 {
		t.Errorf("%v, %v of another; want 1m30s and 0 (%v)", p.Spent("a/b"), p.Spent("a/c"), err)
	}
	if err := Parts("").SetSpent("a/b", time.Second); err != nil {
		t.Error(err)
	}
}

// A command that is repeated runs only what it had not finished, and gets the same figures.
func TestReproduce_continues(t *testing.T) {
	const text = "config: {cluster: hetero64, trace: x.jsonl}\nruns: [{name: a, policy: sia}]\nchecks: [{run: a, published: {jct_mean_h: '-'}}]"
	opened := 0
	o := Options{Parts: Parts(filepath.Join(t.TempDir(), "parts")), Files: osFiles()}
	o.Files.Open = func(string) (io.ReadCloser, error) {
		opened++
		return library.Open("sia/gpt-alone.jsonl")
	}
	var first []Finding
	for i, tc := range []struct {
		text   string
		opened int
		fresh  bool
	}{{text, 1, false}, {text, 1, false}, {strings.Replace(text, "sia", "srtf", 1), 2, false}, {text, 3, true}} {
		if tc.fresh {
			if err := o.Parts.Remove(); err != nil {
				t.Fatal(err)
			}
		}
		found, err := mustParse(t, tc.text).Reproduce(t.Context(), o)
		if err != nil || opened != tc.opened {
			t.Fatalf("run %d: %v, %d traces opened, want %d", i, err, opened, tc.opened)
		}
		if i == 0 {
			first = found
		} else if tc.text == text && !slices.Equal(found, first) {
			t.Errorf("run %d: got %v, want %v", i, found, first)
		}
	}
}
