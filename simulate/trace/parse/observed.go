package parse

import (
	"time"

	"github.com/oxgang/oxgang/simulate/workload"
)

// An Observed is a job of a recorded history, with when it was admitted, started and ended.
type Observed struct {
	Arrival   workload.Arrival
	Nodes     int       // that it ran on; 0: not known
	Submitted time.Time // since when it could start
	Admitted  time.Time // when Kueue reserved quota for it last; zero: not known
	Started   time.Time // when it had all its GPUs; zero: not known
	Ended     time.Time // zero: it still ran
}

// Left returns when the job left its GPUs: its end, or as far as it was seen to run.
func (o *Observed) Left() time.Time {
	if o.Ended.IsZero() {
		return o.Started.Add(o.Arrival.Duration)
	}
	return o.Ended
}
