//go:build linux

package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/live/status"
)

// observed returns what the command prints as a user. The client is the rig's, so that another account can ask.
func observed(t *testing.T, r *slurmtest.Rig, as string, args ...string) string {
	t.Helper()
	cmd := observeCommandOf(&observation{client: &client.Client{Run: client.Limited(r.As(as), 600)}})
	var out, told bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&told)
	cmd.SetArgs(args)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	return out.String()
}

// written is what a Slurm keeps: jobs without what passes by itself, all rows of the accounting, its transactions,
// and the lines of slurmctld's log that tell of a request.
func written(t *testing.T, r *slurmtest.Rig) string {
	t.Helper()
	var b strings.Builder
	for field := range strings.FieldsSeq(r.Call(t, "scontrol", "-o", "show", "job")) {
		if name, _, _ := strings.Cut(field, "="); name != "RunTime" && name != "LastSchedEval" && name != "StartTime" && name != "EndTime" && name != "Scheduler" && name != "SchedNodeList" && name != "AccrueTime" {
			b.WriteString(field + "\n")
		}
	}
	b.WriteString(r.Call(t, "sacct", "-P", "-a", "-D", "-S", "now-1day", "-o", "JobIDRaw,JobID,State,Priority,Comment,Submit,Start,End,ExitCode,AllocTRES,Reason"))
	b.WriteString(r.Call(t, "sacctmgr", "-P", "list", "transactions"))
	for line := range strings.Lines(r.Log("slurmctld")) {
		if !strings.Contains(line, "sched/backfill") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestSlurm_observe: an ordinary account sees what runs, who waits and why, and nothing is written.
func TestSlurm_observe(t *testing.T) {
	r := slurmtest.Start(t, slurmtest.Options{Accounting: true})
	runs := r.Submit(t, "sleep 1000", "--job-name=runs", "--gres=gpu:h100:6", "--nodelist=h1")
	r.Submit(t, "sleep 1000", "--job-name=other", "--gres=gpu:h100:6", "--nodelist=h2")
	waits := r.Submit(t, "true", "--job-name=waits", "--gres=gpu:h100:8", "--time=10")
	behind := r.Submit(t, "true", "--job-name=behind", "--gres=gpu:h100:4", "--time=10", "--nice=50")
	r.Call(t, "scontrol", "update", "nodename=a2", "state=drain", "reason=bad fan")
	r.Until(t, runs, "its start", func(j *client.Job) bool { return j.State == client.Running })
	r.Until(t, waits, "a reason", func(j *client.Job) bool { return j.Reason == "Resources" && !j.Start.IsZero() })
	r.Until(t, behind, "a reason", func(j *client.Job) bool { return j.Reason == "Priority" })
	if err := slurmtest.Await(t.Context(), "accounting of all jobs", func() (bool, error) {
		found, err := r.Client().Accounting(t.Context(), time.Now().Add(-time.Hour))
		started := 0
		for i := range found {
			if !found[i].Start.IsZero() {
				started++
			}
		}
		return len(found) == 4 && started == 2, err
	}); err != nil {
		t.Fatal(err)
	}
	before := written(t, r)
	text := observed(t, r, "nobody")
	for _, want := range []string{
		"16 GPUs of type a100: 0 held, 16 idle (8 unusable)",
		"Resources: it is next and needs 8 h100 GPUs on 1 node; no node has more than 2 free",
		"Priority: 1 job of higher priority comes first, for 8 GPUs in all",
		"drained: the node is drained: bad fan",
		"fragmented: 2 free; job 4, the smallest that waits, needs 4 GPUs on one node",
		"  starts <", "  <",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var report status.Status
	if err := json.Unmarshal([]byte(observed(t, r, "nobody", "-o", "json")), &report); err != nil || len(report.Jobs) != 4 {
		t.Errorf("%v: %d jobs, want 4", err, len(report.Jobs))
	}
	for range 5 {
		observed(t, r, "nobody", "-o", "csv")
	}
	for id, want := range map[client.ID]string{
		waits: "reason   Resources: it is next and needs 8 h100 GPUs", behind: "reason   Priority: 1 job of higher priority comes first",
		runs: "holds    6 h100 GPUs on h1:6",
	} {
		if text, err := explained(client.Limited(r.As("nobody"), 600), "--slurm", id.String()); err != nil || !strings.Contains(text, want) {
			t.Errorf("job %v: %v, no %q in\n%s", id, err, want, text)
		}
	}
	if after := written(t, r); after != before {
		t.Errorf("observing wrote something. Before:\n%s\nafter:\n%s", before, after)
	}
	r.Call(t, "scontrol", "update", "jobid="+waits.String(), "nice=7") // what is compared shows a write
	if written(t, r) == before {
		t.Error("an update of a job does not show in what is compared")
	}
	t.Log("\n" + text)
	r.Call(t, "scancel", behind.String())
	if text, err := explained(r.As("nobody"), "--slurm", behind.String()); err != nil || !strings.Contains(text, "(name behind, user root) is cancelled\n") {
		t.Errorf("a job that was cancelled: %v\n%s", err, text)
	}
	if err := r.Signal("slurmdbd", syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if text := observed(t, r, "nobody"); !strings.Contains(text, "note: limits of QOS are unknown: sacctmgr: ") || !strings.Contains(text, "waiting") {
		t.Errorf("without slurmdbd:\n%s", text)
	}
	if err := r.Signal("slurmctld", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	cmd := observeCommandOf(&observation{client: &client.Client{Run: r.As("nobody")}})
	cmd.SetArgs([]string{"--history=0"})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	if err := cmd.ExecuteContext(t.Context()); !errors.Is(err, client.ErrUnreachable) || !strings.Contains(err.Error(), "hint: check slurmctld with \"scontrol ping\"") {
		t.Errorf("without slurmctld: %v, want that it does not answer", err)
	}
	t.Logf("without slurmctld the error came after %v", time.Since(begin).Round(time.Second))
}
