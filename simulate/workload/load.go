// This file has load curves of an inference cluster, which lends the nodes that it does not use. Source:
// Lyra §2.1.

package workload

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
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

// At returns the fraction of busy GPUs at time t. Before time 0 it is the first value; after the end of the curve the
// last 24 hours repeat. A curve shorter than a day repeats every 24 hours, and keeps its last value in between.
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

// Figures of the paper's inference cluster, with additions of the shared synthetic curves. Source: Lyra
// §2.1, Fig. 1.
const (
	diurnalStep = 5 * time.Minute

	diurnalDay   = 0.02  // standard deviation of the factor per day
	diurnalKeep  = 0.98  // factor on the slow deviation per step
	diurnalSlow  = 0.003 // standard deviation of its change
	diurnalNoise = 0.02  // standard deviation of the noise per step

	diurnalLeast, diurnalMost = 0.40, 0.97
)

var diurnalHours = [24]float64{
	0.84, 0.69, 0.55, 0.47, 0.435, 0.42, 0.43, 0.455, 0.51, 0.57, 0.61, 0.65,
	0.67, 0.65, 0.62, 0.61, 0.625, 0.65, 0.71, 0.81, 0.93, 0.95, 0.95, 0.93,
}

// Diurnal generates the load of an inference cluster for a number of days (at least 1) from midnight, in steps of 5
// minutes. It is a daily profile from 0.42 to 0.95, times a factor per day, plus a slow and a fast deviation. Its mean
// is about 0.65, and its median increase per step about 0.019 (2 % in the paper). Equal arguments give equal curves,
// and more days extend the same curve. Source: Lyra §2.1, Fig. 1, §7.1.
func Diurnal(seed uint64, days int) *Load {
	l := &Load{Step: diurnalStep}
	steps := int(day / diurnalStep)
	factors, slow, noise := rng.Stream(seed, "load/day"), rng.Stream(seed, "load/slow"), rng.Stream(seed, "load/noise")
	deviation := 0.0
	for range days {
		factor := 1 + diurnalDay*factors.NormFloat64()
		for i := range steps {
			deviation = diurnalKeep*deviation + diurnalSlow*slow.NormFloat64()
			b := factor*diurnalProfile(float64(24*i)/float64(steps)) + deviation + diurnalNoise*noise.NormFloat64()
			l.Busy = append(l.Busy, min(max(b, diurnalLeast), diurnalMost))
		}
	}
	return l
}

func diurnalProfile(hour float64) float64 {
	i := int(hour)
	w := hour - float64(i)
	return (1-w)*diurnalHours[i%24] + w*diurnalHours[(i+1)%24]
}
