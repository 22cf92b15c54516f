package parse

import (
	"time"

	"github.com/oxgang/oxgang/simulate/workload"
)

// An Observed is a job of a history: its submission, start and end.
type Observed struct {
	Arrival   workload.Arrival
	Nodes     int       // number of its nodes; 0: unknown
	Submitted time.Time // time at which the job could first start
	Admitted  time.Time // time at which Kueue last reserved quota; zero: unknown
	Started   time.Time // time at which it had all its GPUs; zero: unknown
	Ended     time.Time // zero: still running
}

// Waited calls Options.Wait with the wait of the job, if its start is known.
func (o Options) Waited(job *Observed) {
	if o.Wait != nil && !job.Started.IsZero() {
		o.Wait(max(0, job.Started.Sub(job.Submitted)))
	}
}

// Left returns when the job released its GPUs: its end or, if it has not ended, the last recorded time.
func (o *Observed) Left() time.Time {
	if o.Ended.IsZero() {
		return o.Started.Add(o.Arrival.Duration)
	}
	return o.Ended
}
