package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// hostile is a name that tries to leave its place.
const hostile = "</script><b>\"',\x1b[31m\n=1+1"

// small are two runs with round numbers; the second has nothing done and no
// finish-time fairness.
func small() []Run {
	return []Run{
		{Name: "sia", Result: &metrics.Result{
			Types: []cluster.GPUType{"t4"},
			Summary: metrics.Summary{
				Jobs: 2, Done: 2, Rounds: 10, MeanJCT: 1800, P50JCT: 1800, P90JCT: 3600, P99JCT: 3600, Makespan: 7200,
				GPUHoursPerJob: 1.5, RestartsPerJob: 0.5, MeanContention: 1.25, MaxContention: 2, AllocatedHours: 3,
				UsefulHours: 2.7, RestartHours: 0.3, GoodputRatio: 0.9, Utilisation: 0.75,
				Types: []metrics.TypeSummary{{Type: "t4", GPUs: 4, Hours: 3, Utilisation: 0.75}},
				Rho:   &metrics.RhoSummary{Mean: 0.8, Worst: 1.2, UnfairAbove: 1.1, Unfair: 0.5},
			},
		}},
		{Name: "a long name", Result: &metrics.Result{Summary: metrics.Summary{Jobs: 2, Active: 2}}},
	}
}

func table(t *testing.T, runs []Run, f Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := Table(&out, runs, f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTable_text(t *testing.T) {
	want := "" +
		"POLICY       JOBS  DONE  AVG JCT (h)  P99 JCT (h)  GPU-H/JOB  RESTARTS  UTIL (%)\n" +
		"sia             2     2        0.500         1.00       1.50      0.50      75.0\n" +
		"a long name     2     0            -            -          -         -       0.0\n"
	if diff := cmp.Diff(want, table(t, small(), Text)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// Rho that nobody knows is no column of the table, and no number elsewhere.
func TestTable_leaves_out_what_no_run_knows(t *testing.T) {
	runs := small()
	runs[0].Result.Summary.Rho = nil
	if text := table(t, runs, Text); strings.Contains(text, "RHO") || !strings.Contains(text, "AVG JCT") {
		t.Errorf("table without rho:\n%s", text)
	}
	if text := table(t, runs, JSON); !strings.Contains(text, `"unfair_pct": null`) {
		t.Errorf("JSON without rho:\n%s", text)
	}
}

// Times differ between machines: only the page has them beside results.
func TestPolicyTime_is_on_the_page_only(t *testing.T) {
	runs := small()
	runs[0].PolicyTimes = []time.Duration{4e6, 1e6, 2e6}
	for _, f := range Formats() {
		if table(t, runs, f) != table(t, small(), f) {
			t.Errorf("%s has policy times", f)
		}
	}
	page := html(t, Input{Runs: runs})
	for _, want := range []string{"Policy time, p50", "<td>2.000</td>", "Unfair jobs, rho &gt; 1.1", "above 1.1 is unfair"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func TestPage_says_what_rho_is(t *testing.T) {
	static := small()
	static[0].Result.Summary.Rho.Static = true
	for want, runs := range map[string][]Run{"jobs of the trace per GPU": static, "alone on a fair share": small()} {
		if d := pageDataOf(t, html(t, Input{Runs: runs})); !strings.Contains(d.Rho, want) || d.Unfair != 1.1 {
			t.Errorf("%q above %v, want %q above 1.1", d.Rho, d.Unfair, want)
		}
	}
}

func TestTable_wide_aligns_and_adds_columns(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(table(t, small(), Wide), "\n"), "\n")
	if len(lines) != 3 || len(lines[0]) != len(lines[1]) || len(lines[1]) != len(lines[2]) {
		t.Fatalf("lines of unequal length:\n%s", strings.Join(lines, "\n"))
	}
	for _, header := range []string{"P50 JCT (h)", "RESTART (%)", "UTIL t4 (%)"} {
		if !strings.Contains(lines[0], header) {
			t.Errorf("no column %q in %q", header, lines[0])
		}
	}
}

func TestTable_keeps_names_on_their_line(t *testing.T) {
	runs := small()
	runs[0].Name = hostile
	text := table(t, runs, Text)
	if strings.Count(text, "\n") != 3 || strings.Contains(text, "\x1b") {
		t.Errorf("a name broke out of its line: %q", text)
	}
}

// The three formats for programs hold the same values.
func TestTable_JSON_YAML_and_CSV_agree(t *testing.T) {
	runs := small()
	runs[1].Name = hostile
	var rows []map[string]any
	if err := json.Unmarshal([]byte(table(t, runs, JSON)), &rows); err != nil {
		t.Fatal(err)
	}
	if rows[0]["jct_mean_h"] != 0.5 || rows[1]["jct_mean_h"] != nil || rows[1]["policy"] != hostile {
		t.Errorf("JSON rows %v", rows)
	}
	records, err := csv.NewReader(strings.NewReader(table(t, runs, CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	yaml := strings.Split(table(t, runs, YAML), "\n")
	for r, row := range records[1:] {
		if len(row) != len(rows[r]) {
			t.Fatalf("row %d: CSV has %d columns, JSON %d", r, len(row), len(rows[r]))
		}
		for c, cell := range row {
			name := records[0][c]
			if got := printable.Line(asText(rows[r][name])); got != cell {
				t.Errorf("row %d, %s: CSV %q, JSON %q", r, name, cell, got)
			}
			if c == 0 {
				continue
			}
			want := "  " + quoted(name) + ": " + asYAML(rows[r][name])
			if got := yaml[r*len(row)+c]; got != want {
				t.Errorf("row %d: YAML line %q, want %q", r, got, want)
			}
		}
	}
}

func asText(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return v
	}
	return ""
}

func asYAML(v any) string {
	if v == nil {
		return "null"
	}
	return asText(v)
}

func TestTable_of_no_runs(t *testing.T) {
	want := map[Format]string{JSON: "[]\n", YAML: "[]\n"}
	for _, f := range Formats() {
		got := table(t, nil, f)
		if w, ok := want[f]; ok && got != w || got == "" {
			t.Errorf("%s of no runs: %q, want %q", f, got, w)
		}
	}
	if err := Table(io.Discard, nil, "xml"); err == nil || !strings.Contains(err.Error(), `"xml", want one of`) {
		t.Errorf("error %v, want one that names the formats", err)
	}
}

func TestTimes(t *testing.T) {
	runs := []Run{{Name: "sia", PolicyTimes: []time.Duration{4e6, 1e6, 2e6}}, {Name: "none"}}
	var out bytes.Buffer
	if err := Times(&out, runs); err != nil {
		t.Fatal(err)
	}
	if want := "sia: policy time per round: median 2 ms, p99 4 ms, max 4 ms over 3 rounds\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// A file in memory.
type file struct {
	bytes.Buffer
	closed bool
}

func (f *file) Close() error { f.closed = true; return nil }

func files(t *testing.T, runs []Run) map[string]*file {
	t.Helper()
	all := make(map[string]*file)
	err := CSVs(func(name string) (io.WriteCloser, error) { all[name] = &file{}; return all[name], nil }, runs)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCSVs_round_trip(t *testing.T) {
	runs := []Run{synthetic(t, "sia", 40, 1), synthetic(t, hostile, 40, 2)}
	all := files(t, runs)
	for _, d := range datasets(runs, unlimited) {
		f := all[d.Name+".csv"]
		if f == nil || !f.closed {
			t.Fatalf("%s.csv was not written and closed", d.Name)
		}
		records, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatalf("%s.csv: %v", d.Name, err)
		}
		if len(records) != 1+d.rows() || d.rows() == 0 {
			t.Fatalf("%s.csv: %d records, want a header and %d rows", d.Name, len(records), d.rows())
		}
		for c, s := range d.Columns {
			for r, rec := range records[1:] {
				want := strconv.FormatFloat(s.Values[r], 'g', -1, 64)
				if s.index != nil {
					want = printable.Line(s.Words[int(s.Values[r])])
				}
				if rec[c] != want {
					t.Fatalf("%s.csv, row %d, %s: %q, want %q", d.Name, r, s.Name, rec[c], want)
				}
			}
		}
	}
}

func TestCSVs_says_which_file_failed(t *testing.T) {
	full := errors.New("disk full")
	err := CSVs(func(string) (io.WriteCloser, error) { return nil, full }, nil)
	if !errors.Is(err, full) || !strings.Contains(err.Error(), "jct_cdf.csv") {
		t.Errorf("error %v, want disk full with the file's name", err)
	}
}

// What a plot shows adds up to what the summary says.
func TestDatasets_agree_with_the_summary(t *testing.T) {
	run := synthetic(t, "sia", 160, 1)
	sum := func(name, column string) float64 {
		total := 0.0
		for _, d := range datasets([]Run{run}, unlimited) {
			for _, c := range d.Columns {
				if d.Name == name && c.Name == column {
					for _, v := range c.Values {
						total += v
					}
				}
			}
		}
		return total
	}
	want := run.Result.Summary.AllocatedHours
	for _, name := range []string{"gpu_hours", "gpu_time_use", "jobs"} {
		if got := sum(name, "gpu_hours"); math.Abs(got-want) > 1e-3*want {
			t.Errorf("%s: %v GPU-hours, want %v", name, got, want)
		}
	}
	if got := sum("jobs", "jct_s") / 160; math.Abs(got-run.Result.Summary.MeanJCT) > 1e-3*got {
		t.Errorf("mean JCT of jobs %v s, want %v", got, run.Result.Summary.MeanJCT)
	}
}

func TestCDF_is_thinned_to_its_ends(t *testing.T) {
	sorted := make([]float64, 1001)
	for i := range sorted {
		sorted[i] = float64(i)
	}
	d := newDataset("x", "@policy", "v", "fraction")
	d.addCDF("p", sorted, limits{points: 10})
	v, f := d.Columns[1].Values, d.Columns[2].Values
	if len(v) != 10 || v[9] != 1000 || f[9] != 1 {
		t.Fatalf("values %v, fractions %v; want 10 points up to the largest", v, f)
	}
	for i := range v {
		if want := (v[i] + 1) / 1001; math.Abs(f[i]-want) > 1e-6 {
			t.Errorf("fraction of %v is %v, want %v", v[i], f[i], want)
		}
	}
}

func TestTidy(t *testing.T) {
	tests := []struct{ in, want float64 }{
		{0, 0},
		{3, 3},
		{1.23456789, 1.23457},
		{-123456.7891234, -123456.789},
		{1.23456789e-9, 1.23457e-9},
		{math.NaN(), 0},
		{math.Inf(1), 0},
		{math.MaxFloat64, math.MaxFloat64},
		{5e-324, 5e-324},
	}
	for _, test := range tests {
		if got := tidy(test.in); math.Abs(got-test.want) > 1e-12*math.Abs(test.want) {
			t.Errorf("tidy(%v) = %v, want %v", test.in, got, test.want)
		}
	}
}

func html(t *testing.T, in Input) string {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, in); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// pageDataOf returns what the page's script reads.
func pageDataOf(t *testing.T, page string) pageData {
	t.Helper()
	m := regexp.MustCompile(`(?s)<script id="data" type="application/json">(.*?)</script>`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no data in the page")
	}
	var d pageData
	if err := json.Unmarshal([]byte(m[1]), &d); err != nil {
		t.Fatalf("data: %v", err)
	}
	return d
}

// TestHTML writes the page to the file that OXGANG_SHOW names, if any, for a
// person to look at.
func TestHTML_three_runs_of_160_jobs(t *testing.T) {
	in := Input{
		Title: "Philly workload-1 on hetero64",
		Facts: []string{"160 jobs", "64 GPUs: 24 t4, 16 a100, 24 rtx", "rounds of 60 s", "seed 1"},
		Runs:  []Run{synthetic(t, "sia", 160, 1), synthetic(t, "fifo", 160, 2), synthetic(t, "srtf", 160, 3)},
	}
	page := html(t, in)
	if path := os.Getenv("OXGANG_SHOW"); path != "" {
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(page) > 2<<20 {
		t.Errorf("page takes %d bytes, want less than 2 MB", len(page))
	}
	if page != html(t, in) {
		t.Error("the same runs gave two different pages")
	}
	d := pageDataOf(t, page)
	if diff := cmp.Diff([]string{"sia", "fifo", "srtf"}, d.Policies); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	for _, set := range d.Datasets {
		if len(set.Columns[0].Values) == 0 {
			t.Errorf("dataset %s is empty", set.Name)
		}
		if !strings.Contains(page, `id="`+set.Name+`"`) && set.Name != "jobs" {
			t.Errorf("dataset %s has no plot", set.Name)
		}
	}
}

func TestHTML_loads_nothing(t *testing.T) {
	page := html(t, Input{Runs: []Run{synthetic(t, "sia", 10, 1)}})
	for _, pattern := range []string{`https?:`, `\ssrc=`, `\shref=`, `\burl\(`, `@import`, `\bfetch\(`, `XMLHttpRequest`, `<link`, `import\(`} {
		if at := regexp.MustCompile("(?i)" + pattern).FindString(page); at != "" {
			t.Errorf("the page holds %q", at)
		}
	}
	if !strings.Contains(page, `default-src 'none'`) {
		t.Error("the page does not forbid loads")
	}
}

func TestHTML_escapes_names(t *testing.T) {
	run := synthetic(t, hostile, 4, 1)
	run.Result.Jobs[0].ID, run.Result.Jobs[1].Class = job.ID(hostile), job.Class(hostile)
	run.Result.Types[0] = cluster.GPUType(hostile)
	page := html(t, Input{Title: hostile, Facts: []string{hostile}, Runs: []Run{run}})
	if strings.Contains(page, "<b>") {
		t.Error("a name became markup")
	}
	if n := strings.Count(page, "<script"); n != 2 || strings.Count(page, "</script>") != n {
		t.Errorf("%d scripts begin, %d end; want 2", n, strings.Count(page, "</script>"))
	}
	words := map[string]bool{}
	for _, set := range pageDataOf(t, page).Datasets {
		for _, c := range set.Columns {
			for _, w := range c.Words {
				words[set.Name+"."+c.Name] = words[set.Name+"."+c.Name] || w == hostile
			}
		}
	}
	for _, place := range []string{"jobs.job", "jobs.model", "jobs.policy", "gantt.job", "gantt.gpu_type"} {
		if !words[place] {
			t.Errorf("%s lost the name", place)
		}
	}
}

func TestHTML_of_little(t *testing.T) {
	empty, err := metrics.New(metrics.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		runs []Run
	}{
		{"no runs", nil},
		{"a run in which nothing happened", []Run{{Name: "sia", Result: empty.Result()}}},
		{"one job", []Run{synthetic(t, "sia", 1, 1)}},
		{"a run beside an empty one", []Run{synthetic(t, "sia", 3, 1), {Name: "none", Result: empty.Result()}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			page := html(t, Input{Runs: test.runs})
			if strings.Contains(page, ":null") {
				t.Error("the page's data holds null, which its script does not expect")
			}
			if d := pageDataOf(t, page); len(d.Policies) != len(test.runs) {
				t.Errorf("policies %v of %d runs", d.Policies, len(test.runs))
			}
			if got := strings.Contains(page, "There are no runs."); got != (len(test.runs) == 0) {
				t.Errorf("page says there are no runs: %v", got)
			}
			if regexp.MustCompile(`\b(NaN|Inf)\b`).MatchString(strings.Split(page, "<script>")[0]) {
				t.Error("the page shows a number that is none")
			}
			files(t, test.runs)
		})
	}
}

func TestHTML_bounds_long_runs(t *testing.T) {
	run := Run{Name: "fifo", Result: &metrics.Result{Types: []cluster.GPUType{"t4"}}}
	for i := range 50_000 {
		run.Result.Jobs = append(run.Result.Jobs, metrics.JobResult{
			ID: job.ID("job-" + strconv.Itoa(i)), Class: job.Class("class-" + strconv.Itoa(i%100)), Outcome: metrics.Done,
			JCT: float64(i), Allocated: 3600, ByType: []float64{3600},
			Intervals: []metrics.Interval{{Start: float64(i), End: float64(2 * i), GPUs: 1}},
		})
	}
	page := html(t, Input{Runs: []Run{run}})
	if len(page) > 1<<20 {
		t.Errorf("page takes %d bytes, want at most 1 MiB", len(page))
	}
	if d := pageDataOf(t, page); d.Jobs[0] != 50_000 {
		t.Errorf("page knows of %d jobs, want 50000", d.Jobs[0])
	}
	if n := strings.Count(files(t, []Run{run})["jobs.csv"].String(), "\n"); n != 50_001 {
		t.Errorf("jobs.csv has %d lines, want 50001", n)
	}
}

func BenchmarkHTML(b *testing.B) {
	runs := []Run{synthetic(b, "sia", 160, 1), synthetic(b, "fifo", 160, 2), synthetic(b, "srtf", 160, 3)}
	for b.Loop() {
		if err := HTML(io.Discard, Input{Runs: runs}); err != nil {
			b.Fatal(err)
		}
	}
}
