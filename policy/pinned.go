package policy

import "github.com/oxgang/oxgang/model/job"

// Pinned returns a copy of job j that is non-preemptive. Check then rejects every plan that changes the job's GPUs.
func (j *Job) Pinned() *Job {
	row, spec := *j, new(job.Spec)
	*spec = *j.Spec
	spec.NonPreemptive = true
	row.Spec = spec
	return &row
}
