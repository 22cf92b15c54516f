package live

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

// A terminal obeys nothing that a job prints, wherever its output is cut; a file gets the bytes as they are.
func TestLog_is_shown_as_text(t *testing.T) {
	const canary = "10%\r20%\r\nx\x1b]0;title\a\u009b1A é\xff\xe2\x82"
	for _, size := range []int{1, 2, 3, 100} {
		var shown, file strings.Builder
		for _, l := range []*logWriter{{w: &shown, escape: true}, {w: &file}} {
			for at := 0; at < len(canary); at += size {
				if _, err := l.Write([]byte(canary[at:min(len(canary), at+size)])); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.flush(); err != nil {
				t.Fatal(err)
			}
		}
		if got := shown.String(); strings.ContainsAny(got, "\x1b\a\r\u009b") || !strings.Contains(got, "10%\n20%\n") || !strings.Contains(got, "é") {
			t.Errorf("pieces of %d bytes: %q", size, got)
		}
		if file.String() != canary {
			t.Errorf("a file gets %q", file.String())
		}
	}
}
