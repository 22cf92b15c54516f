package report

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/printable"
)

// failed are the runs of small, and between them one that failed for a reason that tries to
// leave its place.
func failed() []Run {
	runs := small()
	return []Run{runs[0], {Name: "lyra", Error: "stuck: 1 jobs wait" + hostile}, runs[1]}
}

// A run that failed says why in place of its numbers, and changes no other row.
func TestTable_of_a_run_that_failed(t *testing.T) {
	for _, f := range []Format{Text, Wide} {
		want := strings.SplitAfter(table(t, small(), f), "\n")
		got := strings.SplitAfter(table(t, failed(), f), "\n")
		if len(got) != 5 || !strings.HasPrefix(got[2], "lyra         failed: stuck: 1 jobs wait</script>") || strings.ContainsAny(got[2], "\x1b\r") {
			t.Fatalf("%s: got %q", f, got)
		}
		if diff := cmp.Diff(want, append(got[:2:2], got[3:]...)); diff != "" {
			t.Errorf("%s: other rows (-without +with a run that failed):\n%s", f, diff)
		}
	}
}

func TestTable_for_programs_of_a_run_that_failed(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(table(t, failed(), CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := len(rows[0]) - 1
	for i, want := range []string{"error", "", printable.Line(failed()[1].Error), ""} {
		if rows[i][last] != want {
			t.Errorf("CSV: row %d ends in %q, want %q", i, rows[i][last], want)
		}
	}
	if text := strings.Join(rows[2][1:last], ""); text != "" {
		t.Errorf("CSV: numbers %q of a run that failed", text)
	}
	var objects []map[string]any
	if err := json.Unmarshal([]byte(table(t, failed(), JSON)), &objects); err != nil {
		t.Fatal(err)
	}
	for i, o := range objects {
		if why, known := o["error"].(string); known != (i == 1) || known && why != failed()[1].Error || (o["jobs"] == nil) != (i == 1) {
			t.Errorf("JSON: object %d has error %v and %v jobs", i, o["error"], o["jobs"])
		}
	}
	if text := table(t, failed(), YAML); strings.Count(text, "  \"error\": null\n") != 2 || strings.Count(text, "  \"error\": \"stuck: ") != 1 {
		t.Errorf("YAML:\n%s", text)
	}
}

// The page has the row, and the plots of the other runs with the colours of their rows.
func TestPage_of_a_run_that_failed(t *testing.T) {
	page := html(t, Input{Runs: failed()})
	for _, want := range []string{
		`<i class="key" data-policy="0"></i>sia</th>`, `<i class="key" data-policy="1"></i>a long name</th>`,
		`<th scope="row">lyra</th><td class="failed" colspan="`, ">failed: stuck: 1 jobs wait&lt;/script&gt;",
	} {
		if strings.Count(page, want) != 2 {
			t.Errorf("%d times %q, want 2: in each table", strings.Count(page, want), want)
		}
	}
	if diff := cmp.Diff(scriptData(html(t, Input{Runs: small()})), scriptData(page)); diff != "" {
		t.Errorf("plots (-without +with a run that failed):\n%s", diff)
	}
}

// Files of plots are those of the runs that ended.
func TestCSVs_of_a_run_that_failed(t *testing.T) {
	got, want := files(t, failed()), files(t, small())
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%d files, want %d", len(got), len(want))
	}
	for name := range want {
		if diff := cmp.Diff(want[name].String(), got[name].String()); diff != "" {
			t.Errorf("%s (-without +with a run that failed):\n%s", name, diff)
		}
	}
}

// scriptData returns what the page's script reads, as text.
func scriptData(page string) string {
	_, rest, _ := strings.Cut(page, `<script id="data" type="application/json">`)
	data, _, _ := strings.Cut(rest, "</script>")
	return data
}
