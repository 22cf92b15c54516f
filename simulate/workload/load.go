// This file has load curves of an inference cluster, which lends the nodes that it does not use. Source:
// Lyra §2.1.

package workload

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

const day = 24 * time.Hour

// A Load is the load curve of an inference cluster: the fraction of its GPUs that serve at least one request,
// averaged over equal intervals from the start of the trace. Source: Lyra §2.1, Fig. 1.
type Load struct {
	Step time.Duration // length of an interval; 5 minutes in the paper
	Busy []float64     // 0 to 1, by interval; not empty
}

// Validate returns an error that joins all errors.
func (l *Load) Validate() error {
	var errs []error
	if l.Step <= 0 {
		errs = append(errs, fmt.Errorf("load: step %v, want more than 0", l.Step))
	}
	if len(l.Busy) == 0 {
		errs = append(errs, errors.New("load: no intervals, want at least 1"))
	}
	for i, b := range l.Busy {
		if !(b >= 0 && b <= 1) { // rejects NaN, too
			errs = append(errs, fmt.Errorf("load: interval %d: busy share %g, want 0 to 1", i, b))
		}
	}
	return errors.Join(errs...)
}

// At returns the fraction of busy GPUs at time t. Before time 0 it is the first value. After the end of the curve its
// last 24 hours repeat. If the curve is shorter than a day, it starts again every 24 hours, and keeps its last value
// until then.
func (l *Load) At(t time.Duration) float64 {
	switch end := time.Duration(len(l.Busy)) * l.Step; {
	case t < 0:
		return l.Busy[0]
	case t < end:
		return l.Busy[t/l.Step]
	case end < day:
		return l.Busy[min(int(t%day/l.Step), len(l.Busy)-1)]
	default:
		return l.Busy[(end-day+(t-end)%day)/l.Step]
	}
}

// Between returns the curve scaled to the range from low to high; a constant curve gets the middle value. The result
// does not share memory with l.
func (l *Load) Between(low, high float64) *Load {
	scaled := &Load{Step: l.Step, Busy: make([]float64, len(l.Busy))}
	if len(l.Busy) == 0 {
		return scaled
	}
	least, most := slices.Min(l.Busy), slices.Max(l.Busy)
	for i, b := range l.Busy {
		w := 0.5
		if most > least {
			w = (b - least) / (most - least)
		}
		scaled.Busy[i] = (1-w)*low + w*high
	}
	return scaled
}
