package jobstate

import (
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Table has the committed plan and the jobs of a queue, guarded by its lock.
type Table struct {
	*driver.Table[*Job]
	Plan *v1alpha1.Plan  // as last written or read
	Past map[job.ID]Past // jobs of the previous leader's Plan that were not observed yet
	Over map[job.ID]bool // ended jobs that still have objects
	// Labels are the node labels by which Kueue's flavors distinguish GPU types.
	Labels map[cluster.GPUType]map[string]string
}

// NewTable returns an empty Table. It calls ended, with the lock held, after the scheduler has processed that a job
// ended.
func NewTable(q *driver.Queue, ended func(*Job)) *Table {
	return &Table{Table: driver.NewTable(q, vacate, ended), Over: map[job.ID]bool{}}
}

func vacate(e *Job) {
	e.Move(hear)
	e.Held = Grant{Generation: e.Held.Generation}
}
