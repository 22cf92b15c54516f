package allocate

import (
	"errors"
	"fmt"
	"time"
)

// An Order is the order in which waiting jobs get their base demand, the workers without which they cannot run (phase
// one).
type Order string

// The orders.
const (
	SJF  Order = "sjf"  // shortest job first; a job that does not fit is skipped
	FIFO Order = "fifo" // in the given order; a job that does not fit blocks all behind it
)

// A Growth is the rule by which elastic jobs get extra workers (phase two).
type Growth string

// The growths.
const (
	Knapsack Growth = "knapsack" // maximises the running time saved
	None     Growth = "none"     // no extra workers
	Gandiva  Growth = "gandiva"  // in turn, while no job waits
	AFS      Growth = "afs"      // next worker to the job whose throughput increases most
)

// Options configure an Allocator. The zero value is Lyra as published.
type Options struct {
	Order  Order         // empty: SJF
	Growth Growth        // empty: Knapsack
	Pause  time.Duration // time that Knapsack charges for changing a running job's workers
	// TrainingFirst starts elastic jobs on training servers if they fit there. Extra workers of heterogeneous jobs
	// still go on loan first. Source: Lyra §7.2, Table 6, "places them to training servers first just like
	// inelastic jobs".
	TrainingFirst bool
}

// DefaultOptions returns the options of the paper, but with a Pause equal to its mean preemption overhead, so that
// workers change only if the gain exceeds it. Source: Lyra §7.5, "63 seconds".
func DefaultOptions() Options {
	return Options{Order: SJF, Growth: Knapsack, Pause: 63 * time.Second}
}

// Validate returns all errors in o, joined.
func (o Options) Validate() error {
	var bad []error
	switch o.Order {
	case "", SJF, FIFO:
	default:
		bad = append(bad, fmt.Errorf("order %q, want sjf or fifo", o.Order))
	}
	switch o.Growth {
	case "", Knapsack, None, Gandiva, AFS:
	default:
		bad = append(bad, fmt.Errorf("growth %q, want knapsack, none, gandiva or afs", o.Growth))
	}
	if o.Pause < 0 {
		bad = append(bad, fmt.Errorf("pause %s, want at least 0", o.Pause))
	}
	return errors.Join(bad...)
}
