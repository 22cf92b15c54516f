package policy

import "github.com/oxgang/oxgang/model/job"

// Pinned returns the row as a non-preemptive job: Check then accepts only plans in which it keeps what it
// holds.
func (j *Job) Pinned() *Job {
	row, spec := *j, new(job.Spec)
	*spec = *j.Spec
	spec.NonPreemptive = true
	row.Spec = spec
	return &row
}
