package metrics_test

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// TestJudge: more than 5 % off in any of three figures is not trusted, nor are too few jobs; a mean
// wait that differs by less than a round is right, and its error is said.
func TestJudge(t *testing.T) {
	base := metrics.Figures{JCT: 1000, Wait: 100, Utilisation: 0.5}
	for name, tc := range map[string]struct {
		simulated     metrics.Figures
		jobs, missing int
		trusted       bool
		verdict       string
	}{
		"exact":             {base, 10, 0, true, "All errors are within 5 %."},
		"within":            {metrics.Figures{JCT: 1049, Wait: 96, Utilisation: 0.48}, 10, 0, true, "All errors are within 5 %."},
		"JCT":               {metrics.Figures{JCT: 1051, Wait: 100, Utilisation: 0.5}, 10, 0, false, "Possible causes: c1; c2."},
		"JCT below":         {metrics.Figures{JCT: 949, Wait: 100, Utilisation: 0.5}, 10, 0, false, "NOT TO BE TRUSTED"},
		"utilisation":       {metrics.Figures{JCT: 1000, Wait: 100, Utilisation: 0.47}, 10, 0, false, "NOT TO BE TRUSTED"},
		"wait":              {metrics.Figures{JCT: 1000, Wait: 161, Utilisation: 0.5}, 10, 0, false, "NOT TO BE TRUSTED"},
		"wait within round": {metrics.Figures{JCT: 1000, Wait: 159, Utilisation: 0.5}, 10, 0, true, "except waits, which are off by less than one scheduling round"},
		"no jobs":           {base, 0, 0, false, "NOT TO BE TRUSTED"},
		"one of 20 missing": {base, 19, 1, true, "All"},
		"two of 20 missing": {base, 18, 2, false, "NOT TO BE TRUSTED"},
	} {
		got := metrics.Judge(base, tc.simulated, tc.jobs, tc.missing, 60, []string{"c1", "c2"})
		if got.Trusted != tc.trusted || !strings.Contains(got.Verdict(), tc.verdict) || (got.Causes == nil) != tc.trusted {
			t.Errorf("%s: %+v, %q; want trusted %v, %q", name, got, got.Verdict(), tc.trusted, tc.verdict)
		}
	}
	spread := metrics.Figures{JCT: 1000, Wait: 100, Utilisation: 0.5, Median: 2000, P90: 4000}
	for what, simulated := range map[string]metrics.Figures{
		"median": {JCT: 1000, Wait: 100, Utilisation: 0.5, Median: 2101, P90: 4000}, "P90": {JCT: 1000, Wait: 100, Utilisation: 0.5, Median: 2000, P90: 3799},
	} {
		if got := metrics.Judge(spread, simulated, 10, 0, 60, nil); got.Trusted {
			t.Errorf("%s of waits off by more than 5 %%: %+v, want it not trusted", what, got)
		}
	}
	near := metrics.Judge(spread, metrics.Figures{JCT: 1000, Wait: 100, Utilisation: 0.5, Median: 2050, P90: 4190}, 10, 0, 60, nil)
	if want := "mean JCT +0.0 %, mean wait +0.0 %, median wait +2.5 %, P90 wait +4.8 %, utilisation +0.0 %"; near.Errors() != want || !near.Trusted || near.Verdict() != "All errors are within 5 %." {
		t.Errorf("errors %q, %q, want %q", near.Errors(), near.Verdict(), want)
	}
	got := metrics.Judge(metrics.Figures{JCT: 1000, Utilisation: 0.5}, metrics.Figures{JCT: 900, Wait: 30, Utilisation: 0.5}, 1, 0, 60, nil)
	if want := "mean JCT -10 %, mean wait 30 s instead of 0 s, utilisation +0.0 %"; got.Errors() != want {
		t.Errorf("errors %q, want %q", got.Errors(), want)
	}
	if !strings.Contains(got.Verdict(), "No cause is known; ") {
		t.Errorf("verdict %q, want one that says that no cause is known", got.Verdict())
	}
}

// TestResult_Figures: times are means over jobs that are done.
func TestResult_Figures(t *testing.T) {
	r := metrics.Result{Jobs: []metrics.JobResult{
		{Outcome: metrics.Done, Submitted: 10, FirstStarted: 20, JCT: 100},
		{Outcome: metrics.Done, Submitted: 10, FirstStarted: 40, JCT: 200},
		{Outcome: metrics.Cancelled, Submitted: 10, FirstStarted: -1, JCT: 5000},
	}}
	r.Summary.Utilisation = 0.25
	if got, want := r.Figures(), (metrics.Figures{JCT: 150, Wait: 20, Utilisation: 0.25}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
