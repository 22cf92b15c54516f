package report

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// compared returns two runs of three seeds with a verdict. The second has half the mean completion time in all of them, or
// half and then twice of it, and a lower goodput ratio in all.
func compared(steady bool) []Run {
	var trials []statistics.Trial
	runs := []Run{{Name: "sia", Policy: "sia"}, {Name: "oxgang", Policy: "oxgang"}}
	for seed := range uint64(3) {
		for i := range runs {
			r := *small()[0].Result
			if i == 1 {
				r.Summary.MeanJCT, r.Summary.GoodputRatio = 900+float64(seed), 0.8+0.01*float64(seed)
				if !steady && seed > 0 {
					r.Summary.MeanJCT = 3600
				}
			}
			trials = append(trials, Trial(runs[i].Name, seed+1, &r))
			if seed == 0 {
				runs[i].Result = &r
			}
		}
	}
	v := Verdict(trials, "sia")
	for i := range runs {
		runs[i].Verdict = v
		runs[i] = Averaged(runs[i], trials)
	}
	return runs
}

// TestBest: in every format and on the page, "best" is what the verdict says, and nothing is best where a difference may be
// chance, although in the table one is less than the other.
func TestBest(t *testing.T) {
	for steady, want := range map[bool]string{true: "jct_mean_h", false: ""} {
		runs := compared(steady)
		text := table(t, runs, Text)
		lines := strings.Split(text, "\n")
		if got := strings.Contains(text, "0.250*"); got != steady || strings.Contains(text, "0.750*") || strings.Contains(text, marked) != steady {
			t.Errorf("steady %v: table\n%s", steady, text)
		}
		if lines[0] != runs[0].Verdict.Sentences[0] || lines[len(runs[0].Verdict.Sentences)] != "" {
			t.Errorf("steady %v: the verdict is not above the table:\n%s", steady, text)
		}
		page := html(t, Input{Runs: runs})
		if strings.Contains(page, `<td class="best">0.250</td>`) != steady || strings.Contains(page, `<td class="best">0.750</td>`) || !strings.Contains(page, `<td class="best">90.0</td>`) {
			t.Errorf("steady %v: another cell is bold on the page", steady)
		}
		if !strings.Contains(page, strings.ReplaceAll(runs[0].Verdict.Sentences[0], "+", "&#43;")) {
			t.Errorf("steady %v: the page does not say %q", steady, runs[0].Verdict.Sentences[0])
		}
		rows, err := csv.NewReader(strings.NewReader(table(t, runs, CSV))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(rows[0]) - len(verdictColumns); rows[0][n] != "best_in" || rows[1][n] != "goodput_ratio_pct" || rows[2][n] != want {
			t.Errorf("steady %v: CSV %v, %v, want %q", steady, rows[1][n:], rows[2][n:], want)
		}
		if got := runs[0].Verdict.Best[statistics.JCT]; (got == "oxgang") != steady {
			t.Errorf("steady %v: the verdict's best is %q", steady, got)
		}
	}
}

// TestTable_has_the_verdict: tables for programs have it in columns after all others, with the numbers that are known; tables of
// runs that are not compared have no such columns.
func TestTable_has_the_verdict(t *testing.T) {
	runs := append(compared(true), Run{Name: "observed", Result: small()[0].Result})
	var rows []map[string]any
	if err := json.Unmarshal([]byte(table(t, runs, JSON)), &rows); err != nil {
		t.Fatal(err)
	}
	above, low, high := rows[0]["jct_above_best"].(float64), rows[0]["jct_above_best_low"].(float64), rows[0]["jct_above_best_high"].(float64)
	if math.Abs(above-1) > 0.01 || !(low < above && above < high) || rows[1]["jct_above_best"] != nil || rows[1]["best_in"] != "jct_mean_h" {
		t.Errorf("JSON rows %v and %v", rows[0], rows[1])
	}
	if rows[1]["verdict"] != runs[0].Verdict.Text() || rows[2]["verdict"] != nil || rows[2]["best_in"] != nil {
		t.Errorf("JSON rows %v and %v", rows[1], rows[2])
	}
	if text := table(t, runs, YAML); !strings.Contains(text, "  \"best_in\": \"jct_mean_h\"\n  \"jct_above_best\": null\n") {
		t.Errorf("YAML:\n%s", text)
	}
	for _, f := range Formats() {
		if text := table(t, small(), f); strings.Contains(text, "best") || strings.Contains(text, star) {
			t.Errorf("%s of runs that are not compared:\n%s", f, text)
		}
	}
}

// TestAveraged: tables have means over seeds, and the page says so; plots are of the first seed.
func TestAveraged(t *testing.T) {
	runs := compared(false)
	mean := (900.0 + 3600 + 3600) / 3 / 3600
	if got := Measures(&runs[1])["jct_mean_h"]; math.Abs(got-mean) > 1e-9 {
		t.Errorf("mean JCT %v h, want the mean over seeds, %v", got, mean)
	}
	if page := html(t, Input{Runs: runs}); !strings.Contains(page, "means over seeds 1 to 3; plots: seed 1") {
		t.Error("the page does not say what it shows")
	}
	if page := html(t, Input{Runs: small()}); strings.Contains(page, "means over") || strings.Contains(page, "more than chance") {
		t.Error("the page of runs that are not compared speaks of means or of chance")
	}
}

// TestTable_stars_stand_below_each_other: digits do, whether or not a star follows, and no line ends in a space.
func TestTable_stars_stand_below_each_other(t *testing.T) {
	_, text, _ := strings.Cut(table(t, compared(true), Text), "\n\n")
	lines := strings.Split(text, "\n")
	if strings.Index(lines[1], "0.500") != strings.Index(lines[2], "0.250*") {
		t.Errorf("digits are not below each other:\n%s", text)
	}
	for _, line := range lines {
		if strings.HasSuffix(line, " ") {
			t.Errorf("a line ends in a space: %q", line)
		}
	}
}

// TestTrial: the terms of the mean completion time add up to it.
func TestTrial(t *testing.T) {
	r := &metrics.Result{
		Summary: metrics.Summary{Jobs: 3, Done: 2, Active: 1, MeanJCT: 150},
		Jobs: []metrics.JobResult{
			{ID: "a", Outcome: metrics.Done, JCT: 100, Queued: 20, Allocated: 160, Restart: 40, Submitted: 5},
			{ID: "b", Outcome: metrics.Done, JCT: 200, Queued: 200},
			{ID: "c", Outcome: metrics.Active, JCT: 999, Queued: 999},
		},
	}
	got := Trial("sia", 3, r)
	want := statistics.Trial{
		Policy: "sia", Seed: 3, Measures: got.Measures, Terms: statistics.Terms{Waiting: 110, Restarts: 10, Running: 30}, Done: 2, Came: got.Came,
		Jobs: r.JobTimes(),
	}
	if diff := cmp.Diff(want, got); diff != "" || got.Measures["jct_mean_h"] != 150.0/3600 {
		t.Errorf("trial (-want +got):\n%s", diff)
	}
	same, later, other := *r, *r, *r
	same.Jobs, later.Jobs, other.Jobs = slices.Clone(r.Jobs), slices.Clone(r.Jobs), slices.Clone(r.Jobs)
	same.Jobs[2].Outcome, later.Jobs[2].Submitted, other.Jobs[2].ID = metrics.Done, 1, "d"
	if Trial("x", 4, &same).Came != got.Came || Trial("sia", 3, &later).Came == got.Came || Trial("sia", 3, &other).Came == got.Came {
		t.Error("the hash is not of which jobs came, and when")
	}
}
