package machine

import (
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/status"
)

// A text of a job makes no row of its own in a table, and a terminal obeys none of it.
func TestTexts_of_jobs_are_shown_as_text(t *testing.T) {
	const canary = "x\x1b[2J\u009b1A\ny"
	var out strings.Builder
	s := status.Status{Backend: status.Machine, At: time.Unix(2, 0), Jobs: []status.Job{{ID: "a", Phase: canary, Reason: "plan", Trouble: canary}, {ID: "b", Outcome: "failed", Detail: canary, Finished: time.Unix(1, 0)}}}
	if err := s.WriteJobs(&out, s.Jobs, status.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := writeLines(&out, canary); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\u009b") || strings.Count(out.String(), "\n") != 5 {
		t.Errorf("want 3 rows and 2 lines, without what a terminal obeys: %q", out.String())
	}
}
