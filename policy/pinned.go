package policy

import "github.com/oxgang/oxgang/model/job"

// Pinned returns the row as that of a non-preemptive job, which keeps exactly what it holds in any plan that Check accepts.
func (j *Job) Pinned() *Job {
	row, spec := *j, new(job.Spec)
	*spec = *j.Spec
	spec.NonPreemptive = true
	row.Spec = spec
	return &row
}
