package policy

import (
	"slices"

	"github.com/oxgang/oxgang/job"
)

// Pinned returns the snapshot in which every job that holds GPUs is non-preemptive, so that it
// keeps exactly what it holds in any plan that Check accepts. Rows of other jobs are the same
// pointers.
func (s *Snapshot) Pinned() *Snapshot {
	pinned := *s
	pinned.Jobs = slices.Clone(s.Jobs)
	for i, j := range s.Jobs {
		if j.Holding() && !j.NonPreemptive {
			pinned.Jobs[i] = j.pinned()
		}
	}
	return &pinned
}

// pinned returns the row as that of a non-preemptive job.
func (j *Job) pinned() *Job {
	row, spec := *j, new(job.Spec)
	*spec = *j.Spec
	spec.NonPreemptive = true
	row.Spec = spec
	return &row
}
