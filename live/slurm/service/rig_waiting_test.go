package service

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmrig"
)

// lasting is how long the jobs of the trace last, in seconds; their time limits are as many minutes.
var lasting = []int{16, 2, 8, 4, 16, 4, 2, 8, 4, 16, 2, 8, 2, 4, 8, 16, 2, 4, 8, 2, 4, 2, 4, 2}

// Mean waiting of a trace that comes at once, on a real Slurm with its priorities and backfill alone, and
// with mode order. Each job wants a whole node, of which there are two. OXGANG_LONG=1 runs it.
func TestRig_waiting(t *testing.T) {
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skip("five minutes: OXGANG_LONG=1 runs it")
	}
	alone, ordered := waited(t, false), waited(t, true)
	t.Logf("mean waiting: Slurm alone %.1f s, with mode order %.1f s: %.2f of it", alone, ordered, ordered/alone)
	if ordered >= alone {
		t.Error("the order by believed length does not shorten the mean waiting")
	}
}

// waited returns the mean waiting, in seconds.
func waited(t *testing.T, ordered bool) float64 {
	r := slurmrig.Start(t, slurmrig.Options{
		Groups: []slurmrig.Group{{Prefix: "a", Nodes: 2, Type: "a100", GPUs: 4}}, Lines: []string{"PriorityType=priority/basic"},
	})
	defer r.Close()
	var ids []client.ID
	for _, s := range lasting {
		ids = append(ids, r.Submit(t, fmt.Sprintf("sleep %d", s), "--gres=gpu:4", fmt.Sprintf("--time=%d", s), "--comment=oxgang:order"))
	}
	if ordered {
		c := config()
		c.Partition, c.Round, c.Commands = "all", time.Second, 1000
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = orderer(t, r.Client(), c).Run(ctx) }()
	}
	sum := 0.0
	for _, id := range ids {
		for r.Job(t, id).State != client.Completed {
			time.Sleep(500 * time.Millisecond)
		}
		j := r.Job(t, id)
		sum += j.Start.Sub(j.Submit).Seconds()
	}
	return sum / float64(len(ids))
}
