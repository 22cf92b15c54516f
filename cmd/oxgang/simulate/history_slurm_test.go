//go:build linux

package simulate

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// TestSlurm_history: what a real Slurm ran is simulated from its own accounting, on the nodes that it has. QOS, nodes that
// are down and reservations are told of.
func TestSlurm_history(t *testing.T) {
	r := slurmtest.Start(t, slurmtest.Options{
		Accounting: true,
		Lines:      []string{"PartitionName=all Nodes=ALL Default=YES", "PartitionName=big Nodes=h[1-2]"},
	})
	r.Call(t, "sacctmgr", "-i", "add", "qos", "high", "set", "Priority=100")
	r.Call(t, "sacctmgr", "-i", "modify", "user", "root", "set", "qos+=high")
	for i := range 6 {
		options := []string{"--gres=gpu:h100:8", "--time=1", "--partition=big"}
		if i%2 == 1 {
			options = append(options, "--qos=high")
		}
		r.Submit(t, "sleep 3", options...)
	}
	if err := slurmtest.Await(t.Context(), "all jobs", func() (bool, error) {
		runs, err := r.Client().Accounting(t.Context(), time.Now().Add(-time.Hour))
		done := 0
		for i := range runs {
			if runs[i].State == client.Completed {
				done++
			}
		}
		return done == 6, err
	}); err != nil {
		t.Fatal(err)
	}
	r.Call(t, "scontrol", "update", "nodename=a2", "state=drain", "reason=bad fan")
	r.Call(t, "scontrol", "create", "reservation", "reservationname=maint", "starttime=now+600", "duration=60", "nodes=h2", "users=root", "flags=maint,ignore_jobs")
	for _, e := range r.Environ() {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	cmd := Command()
	var out, told bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&told)
	cmd.SetArgs([]string{"--from-slurm", "--policy", "srtf", "--round", "1s", "--jobs-restart", "1s", "--report=", "--quiet"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	for _, want := range []string{
		"6 rows, 6 jobs", "jobs of QOS high (logged priorities include it, its limits are not replayed): 3",
		"simulated as available: 1 with 8 GPUs (a2)", "reservation maint of 1 nodes (h2) from ",
	} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("no %q in\n%s", want, told.String())
		}
	}
	if !strings.Contains(out.String(), "observed") || !strings.Contains(out.String(), "srtf") {
		t.Errorf("printed\n%s", out.String())
	}
	t.Logf("\n%s\n%s", told.String(), out.String())
}
