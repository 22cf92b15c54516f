package simulate

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
)

// What is public of Philly's weeks beside its log says when jobs came and how long they ran, not when they started: each week is
// refused in one line, which says so, and where the log is.
func TestWhatIf_philly_without_starts(t *testing.T) {
	weeks, err := filepath.Glob(testdata.Path(t, "traces/philly") + "/*.csv.gz")
	if err != nil || len(weeks) != 9 {
		t.Fatalf("%d weeks, %v", len(weeks), err)
	}
	for _, week := range weeks {
		cmd := WhatIfCommand()
		cmd.SetArgs([]string{week, "--report="})
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		err := cmd.ExecuteContext(t.Context())
		if err == nil {
			t.Fatalf("%s is a history", week)
		}
		var told bytes.Buffer
		cli.PrintError(&told, err)
		for _, want := range []string{"has no start times of jobs", "a table derived from Philly's log, without start times", "cluster_job_log", "msr-fiddle/philly-traces"} {
			if !strings.Contains(told.String(), want) {
				t.Errorf("%s: %s, want %q in it", week, told.String(), want)
			}
		}
	}
}
