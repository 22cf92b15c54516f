package policy

import "github.com/oxgang/oxgang/model/job"

// Pinned returns a copy of j that is non-preemptive. If the copy replaces j in a snapshot, Check rejects every plan
// that changes the GPUs that the job holds.
func (j *Job) Pinned() *Job {
	row, spec := *j, new(job.Spec)
	*spec = *j.Spec
	spec.NonPreemptive = true
	row.Spec = spec
	return &row
}
