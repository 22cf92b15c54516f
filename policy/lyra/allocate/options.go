package allocate

import (
	"errors"
	"fmt"
	"time"
)

// An Order is the order in which phase one serves jobs.
type Order string

// The orders.
const (
	SJF  Order = "sjf"  // shortest job first; what does not fit is passed over
	FIFO Order = "fifo" // as given; what does not fit blocks all behind it
)

// A Growth is how phase two shares what is left among elastic jobs.
type Growth string

// The growths.
const (
	Knapsack Growth = "knapsack" // for the most running time saved
	None     Growth = "none"     // not at all: elastic jobs run with their base demand
	Gandiva  Growth = "gandiva"  // in turn, while no job waits
	AFS      Growth = "afs"      // to the job that gains the most throughput
)

// Options say which jobs go first, which grow, and where the rules differ from the paper's; the
// zero value is the paper.
type Options struct {
	Order  Order         // "": SJF
	Growth Growth        // "": Knapsack
	Pause  time.Duration // what a change of workers costs a running job; of the knapsack
	// TrainingFirst lets elastic jobs, too, start in the training cluster where they fit; extra
	// workers of heterogeneous ones go on loan first in any case. Source: Lyra §7.2, Table 6,
	// "places them to training servers first just like inelastic jobs".
	TrainingFirst bool
}

// DefaultOptions is the paper, but that workers move only where it pays: Pause is the mean
// overhead of a preemption. Source: Lyra §7.5, "63 seconds".
func DefaultOptions() Options {
	return Options{Order: SJF, Growth: Knapsack, Pause: 63 * time.Second}
}

// Validate joins every complaint about o.
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
