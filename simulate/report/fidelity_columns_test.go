package report

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// TestTable_says_whom_to_trust: tables for programs say of simulated history how well it is
// simulated, with the causes; they have no such columns of other runs.
func TestTable_says_whom_to_trust(t *testing.T) {
	runs := small()
	runs[0].Trust = &metrics.Trust{JCT: 0.25, Wait: -0.5, Utilisation: 0.125, Waits: &metrics.WaitErrors{Median: 0.75, P90: -0.25}, Causes: []string{"one", "two"}}
	rows, err := csv.NewReader(strings.NewReader(table(t, runs, CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, row := range rows {
		got = append(got, row[len(row)-7:])
	}
	want := [][]string{
		{"trusted", "own_policy_jct_error", "own_policy_wait_error", "own_policy_median_wait_error", "own_policy_p90_wait_error", "own_policy_utilisation_error", "not_trusted_because"},
		{"false", "0.25", "-0.5", "0.75", "-0.25", "0.125", "one; two"},
		{"", "", "", "", "", "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
	var objects []map[string]any
	if err := json.Unmarshal([]byte(table(t, runs, JSON)), &objects); err != nil {
		t.Fatal(err)
	}
	if o := objects[0]; o["trusted"] != false || o["own_policy_wait_error"] != -0.5 || o["not_trusted_because"] != "one; two" || objects[1]["trusted"] != nil {
		t.Errorf("JSON: %v", objects)
	}
	if text := table(t, runs, YAML); !strings.Contains(text, "  \"trusted\": false\n  \"own_policy_jct_error\": 0.25\n") || strings.Count(text, "\"trusted\": null") != 1 {
		t.Errorf("YAML:\n%s", text)
	}
	for _, f := range []Format{CSV, JSON, YAML} {
		if text := table(t, small(), f); strings.Contains(text, "trusted") {
			t.Errorf("%s of runs that simulate no history:\n%s", f, text)
		}
	}
}
