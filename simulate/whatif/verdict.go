package whatif

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Trust says how well the run was simulated, under its own policy.
func (f *Fidelity) Trust() *metrics.Trust {
	recorded := metrics.Figures{JCT: seconds(f.RealJCT), Wait: seconds(f.RealWait), Utilisation: f.RealUtilisation}
	simulated := metrics.Figures{JCT: seconds(f.PredictedJCT), Wait: seconds(f.PredictedWait), Utilisation: f.PredictedUtilisation}
	endless := f.endless()
	return metrics.Judge(recorded, simulated, len(f.Jobs)-endless, endless, seconds(f.Round), f.causes())
}

func seconds(s journal.Seconds) float64 { return time.Duration(s).Seconds() }

// endless returns how many jobs did not end in the simulation.
func (f *Fidelity) endless() int {
	n := 0
	for _, m := range f.Jobs {
		if m.Predicted < 0 {
			n++
		}
	}
	return n
}

// causes says what may make the simulation differ from the run.
func (f *Fidelity) causes() []string {
	var all []string
	add := func(n int, format string) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, n))
		}
	}
	add(f.Nodes, "nodes joined or left %d times")
	add(f.Lost, "jobs lost their GPUs by failures %d times")
	add(f.Reserved, "%d jobs had reservations")
	add(f.endless(), "%d jobs did not end in the simulation")
	add(f.Ended, "%d jobs were cancelled or failed, which the simulation ends at the same time after they were submitted")
	add(f.Open, "%d jobs had not ended")
	add(f.Restored, "%d jobs were running or waiting when the recording began")
	unmodelled := 0
	for _, m := range f.Jobs {
		if !m.Modelled {
			unmodelled++
		}
	}
	add(unmodelled, "%d jobs never reported how fast they train")
	if f.Truncated {
		all = append(all, "the recording was cut off")
	}
	if len(f.Jobs) == 0 {
		all = append(all, "no job was completed")
	}
	return all
}
