//go:build linux

package view

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// TestSlurm_load: with 10,000 jobs that wait and 1,000 nodes, a look takes at most 2 s, and at the pace of observe
// slurmctld spends at most 2 % of a CPU on it.
func TestSlurm_load(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes: make slurm-test")
	}
	const jobs, nodes, looks = 10_000, 1000, 5
	r := slurmtest.Start(t, slurmtest.Options{Groups: []slurmtest.Group{
		{Prefix: "a", Nodes: 1, Type: "a100", GPUs: 8}, {Prefix: "gone", Nodes: nodes - 1, Type: "h100", GPUs: 8, Absent: true},
	}, Lines: []string{"SlurmdTimeout=0"}}) // nobody asks absent nodes whether they are there
	id := r.Submit(t, "true", "--hold", "--gres=gpu:1", fmt.Sprintf("--array=0-%d", jobs-1))
	r.Call(t, "scontrol", "update", fmt.Sprintf("jobid=%v_[0-%d]", id, jobs-2), "nice=1")
	timer := time.NewTimer(10 * time.Second) // what slurmctld does by itself, once the jobs are there
	quiet := processorTime(t, r)
	<-timer.C
	idle := float64(processorTime(t, r)-quiet) / float64(10*time.Second)
	for _, c := range []*client.Client{r.Client(), {Run: r.As("root"), Text: true}} {
		var took, used, asked, polled time.Duration
		pace := client.DefaultPace()
		for range looks {
			before, own, begin := processorTime(t, r), ownTime(t), time.Now()
			l, err := Take(t.Context(), c, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Jobs) != jobs || len(l.Nodes) != nodes {
				t.Fatalf("%d jobs, %d nodes, want %d and %d", len(l.Jobs), len(l.Nodes), jobs, nodes)
			}
			StatusOf(l, nil, "not asked")
			d := time.Since(begin)
			took, used, asked = took+d, used+ownTime(t)-own, asked+processorTime(t, r)-before
			polled += pace.Next(d, true)
		}
		share := float64(asked) / float64(polled)
		t.Logf("text %v: a look and its report take %v, of which %v of a CPU here and in Slurm's commands; slurmctld uses %v meanwhile, %.2f %% of a CPU at a pace of %v; by itself %.2f %%",
			c.Text, took/looks, used/looks, asked/looks, 100*share, polled/looks, 100*idle)
		if share > 0.02 {
			t.Errorf("slurmctld spends %.2f %% of a CPU on it, want at most 2 %%", 100*share)
		}
	}
}

// ownTime returns what this process and the commands that it ran have used.
func ownTime(t *testing.T) time.Duration {
	t.Helper()
	total := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			t.Fatal(err)
		}
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total
}

// processorTime returns what slurmctld has used.
func processorTime(t *testing.T, r *slurmtest.Rig) time.Duration {
	t.Helper()
	d, err := r.ProcessorTime("slurmctld")
	if err != nil {
		t.Fatal(err)
	}
	return d
}
