package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
)

// explained is a command that explains jobs of a scheduler that is not there, and of a recorded Slurm.
func explained(run client.Runner, args ...string) (string, error) {
	cmd := &cobra.Command{Use: "job", RunE: func(*cobra.Command, []string) error { return fmt.Errorf("ours: %w", control.ErrAbsent) }}
	cmd.Flags().String("state", "", "")
	var format string
	cli.Output(cmd, &format, "text", "json", "yaml")
	addExplain(cmd, &observation{client: &client.Client{Run: run}})
	var b bytes.Buffer
	cmd.SetOut(&b)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(context.Background())
	return b.String(), err
}

// recordedAt calls f at the time of the recording, or later.
func recordedAt(t *testing.T, later time.Duration, f func(client.Runner)) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		end := time.Unix(1795647437, 0) // of submission, in the recording
		time.Sleep(time.Until(end.Add(later)))
		f(recorded(t, 0, &asked))
		for _, line := range asked {
			for _, writes := range []string{"update", "hold", "release", "requeue", "scancel", "sbatch"} {
				if strings.Contains(line, writes) {
					t.Errorf("it gives the command %q", line)
				}
			}
		}
	})
}

// TestExplain: why a job waits in Slurm's word and in ours, what would help, and when it is expected to start or end.
func TestExplain(t *testing.T) {
	recordedAt(t, 10*time.Minute, func(r client.Runner) {
		for id, want := range map[string][]string{
			"11": {
				"11 (name line, user root, queue all) is waiting\n", "asked    8 GPUs h100\n",
				"reason   Resources: it is next and needs 8 h100 GPUs on 1 node; no node has more than",
				"helps    the end of jobs that hold what it needs; or ask for fewer", "start    by 2026-", "; Slurm's estimate from time limits",
			},
			"12":  {"QOSMaxGRESPerUser: ", "it can never start", "helps    ask for fewer GPUs, or another QOS\n", "start    unknown: "},
			"3_5": {"3_[2-9%2] (", ") is waiting", "JobArrayTaskLimit: "},
			"1":   {"1 (name two words, user root, queue all) is running\n", "holds    16 a100 GPUs on a1:8,a2:8\n", ", 10m ago", "end      by 2026-", "; its time limit"},
			"14":  {"14 (name ended, user root) is failed\n", "detail   exit status 3", "reason   NonZeroExitCode"},
		} {
			text, err := explained(r, "--slurm", id)
			for _, w := range want {
				if err != nil || !strings.Contains(text, w) {
					t.Errorf("job %s: no %q in\n%s%v", id, w, text, err)
				}
			}
		}
		text, err := explained(r, "--slurm", "-o", "json", "3")
		if err != nil || strings.Count(text, `"id": "3_`) != 3 {
			t.Errorf("%v\n%s\nwant three entries of array 3", err, text)
		}
		if _, err := explained(r, "--slurm", "999"); !errors.Is(err, view.ErrUnknown) || !strings.Contains(err.Error(), "\"oxgang slurm observe\"") {
			t.Errorf("a job that is not there: %v, want a hint", err)
		}
		if _, err := explained(r, "--slurm", "--state", "dir", "11"); err == nil || !strings.Contains(err.Error(), "slurm") {
			t.Errorf("two places to ask: %v, want an error", err)
		}
	})
}

// TestExplain_time: a job at its time limit ends by now, not by nothing.
func TestExplain_time(t *testing.T) {
	recordedAt(t, 31*time.Minute, func(r client.Runner) {
		if text, err := explained(r, "--slurm", "1"); err != nil || !strings.Contains(text, "end      by 2026-") {
			t.Errorf("%v\n%s\nwant when it ends", err, text)
		}
	})
}

// TestExplain_unasked: a number is one of a Slurm where no scheduler of this machine listens, and there is a squeue.
func TestExplain_unasked(t *testing.T) {
	recordedAt(t, time.Minute, func(r client.Runner) {
		with, without := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(with, "squeue"), []byte("#!/bin/sh\n"), 0o755); err != nil { //nolint:gosec // it is to be found, and not run
			t.Fatal(err)
		}
		for _, c := range []struct {
			path  string
			args  []string
			slurm bool
		}{
			{with, []string{"11"}, true},
			{with, []string{"3_5"}, true},
			{with, []string{"4+1"}, true},
			{with, []string{"3_[2-9%2]"}, true},
			{without, []string{"11"}, false},
			{with, []string{"mnist"}, false},
			{with, []string{"11", "--state", "x"}, false},
		} {
			t.Setenv("PATH", c.path)
			if text, err := explained(r, c.args...); (err == nil && text != "") != c.slurm || !c.slurm && !errors.Is(err, control.ErrAbsent) {
				t.Errorf("%v: %v\n%s\nwant that Slurm is asked: %v", c.args, err, text, c.slurm)
			}
		}
	})
}
