package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

// A run is recorded; another policy is asked what it would have done.
func Example() {
	nodes, err := cluster.New([]cluster.Node{{ID: "n0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 2}}})
	if err != nil {
		panic(err)
	}
	limits := job.BatchLimits{Init: 32, Max: 32}
	world := schedulertest.NewToy([]schedulertest.ToyJob{
		{Spec: &job.Spec{ID: "first", GPUs: 2, BatchSize: 32, Batch: limits}, Work: time.Minute},
		{Spec: &job.Spec{ID: "second", GPUs: 2, BatchSize: 32, Batch: limits}, Work: time.Minute},
	})
	var file bytes.Buffer
	w := journal.NewWriter(&file, journal.Header{
		Tool: "example", Policy: "first fit", Start: schedulertest.Epoch, Round: time.Minute, Cluster: nodes,
	})
	if err := schedulertest.Drive(nodes, w)(context.Background(), world); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := journal.NewReader(&file)
	if err != nil {
		panic(err)
	}
	shadow := journal.Replay(r)
	shadow.Shadow = true
	last := schedulertest.FirstFit{Last: true}
	if err := schedulertest.DriveWith(nodes, last)(context.Background(), shadow); err != nil {
		panic(err)
	}
	c := shadow.Comparison()
	fmt.Printf("%d of %d rounds differ\n", c.Differing, c.Rounds)
	fmt.Println(c.First)
	// Output:
	// 2 of 2 rounds differ
	// round 0 at 1m0s: job first: got no action, want {"run":"first","gets":[1,2,"t4"],"on":[["n0",2]]} as recorded
}
