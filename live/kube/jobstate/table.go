package jobstate

import (
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Table has the committed plan and the jobs of a queue. Its owner guards it by a lock.
type Table struct {
	Plan  *v1alpha1.Plan // as last written or read
	ByID  map[job.ID]*Job
	Order []*Job          // the same, in order of submission
	Past  map[job.ID]Past // until the job is seen
	Over  map[job.ID]bool // ended jobs that still have objects
	// Labels are the node labels by which Kueue's flavors distinguish GPU types.
	Labels map[cluster.GPUType]map[string]string
}

// NewTable returns an empty table.
func NewTable() *Table { return &Table{ByID: map[job.ID]*Job{}, Over: map[job.ID]bool{}} }
