package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
)

// trialOf returns a trial of two jobs on a pool of 16 GPUs: one of 12 GPUs that waits, and one of 1 GPU.
func trialOf(policy string, seed uint64, wait, jct float64) statistics.Trial {
	return statistics.Trial{Policy: policy, Seed: seed, Pool: 16, Jobs: []metrics.JobTimes{
		{ID: "large", GPUs: 12, Wait: wait, JCT: jct, Done: true}, {ID: job.ID("small"), GPUs: 1, JCT: 3600, Done: true},
	}}
}

// TestCompare: a row has the delays and waits of all its seeds, against the baseline's runs of the same seeds, in every output.
func TestCompare(t *testing.T) {
	baseline := []statistics.Trial{trialOf("easy", 1, 1800, 7200), trialOf("easy", 2, 1800, 7200), trialOf("easy", 3, 0, 1)}
	runs := []Run{{Name: "sia", Policy: "sia", Result: small()[0].Result}, {Name: "easy", Policy: "easy", Result: small()[0].Result}}
	runs[0].Compare([]statistics.Trial{trialOf("sia", 1, 3600, 7200), trialOf("sia", 2, 5400, 9000)}, baseline)
	runs[1].Compare(baseline, baseline)
	text := table(t, runs, Text)
	for _, want := range []string{
		"  LATER (%)  MAX WAIT (h)\n", "       25.0          1.50\n", "          -          0.50\n",
		"LATER: jobs that finish more than 10 % and 10 min later than under easy\n",
		"MAX WAIT: longest wait for the first start, jobs of more than 8 GPUs\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(table(t, runs, JSON)), &rows); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"later_jobs": 1.0, "later_compared": 4.0, "later_pct": 25.0, "later_worst_h": 0.5, "later_worst_job": "large", "largest_pool_gpus": 16.0,
		"later_above_half": 1.0, "later_1_gpu": 0.0, "later_2_to_8_gpus": nil, "wait_max_above_half_h": 1.5, "wait_p99_1_gpu_h": 0.0,
	} {
		if rows[0][key] != want {
			t.Errorf("JSON has %s %v, want %v", key, rows[0][key], want)
		}
	}
	if rows[1]["later_jobs"] != nil || rows[1]["wait_max_largest_h"] != 0.5 {
		t.Errorf("JSON of the baseline: %v", rows[1])
	}
	page := html(t, Input{Runs: runs})
	for _, want := range []string{"Delays and waits", "Later than under easy", "0.50 (job large)", "Longest wait, more than 8 GPUs"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "Longest wait, 2 to 8 GPUs") {
		t.Error("the page has a column for a size without jobs")
	}
	if text := table(t, small(), Text); strings.Contains(text, "LATER") || strings.Contains(text, "MAX WAIT") {
		t.Errorf("nothing is compared, and the table is\n%s", text)
	}
}
