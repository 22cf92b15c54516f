package history

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A Verdict is the result of oxgang whatif for a journal: whether a replay decides as recorded, and how accurate
// simulations are.
type Verdict struct {
	Recorded  string `json:"recorded"` // policy of the recording
	Policy    string `json:"policy"`   // policy of the simulation
	Rounds    int    `json:"rounds"`
	Actions   int    `json:"actions"`
	Truncated bool   `json:"truncated"`            // the journal has no end
	Unsealed  bool   `json:"unverified,omitempty"` // the journal has no hashes
	First     string `json:"first_difference,omitempty"`
	// Trust is the accuracy of the simulation under the run's own policy; without it, simulations of other
	// policies are not trusted.
	Trust    *metrics.Trust   `json:"trust"`
	Fidelity *whatif.Fidelity `json:"fidelity"`
	// Ranges is the accuracy of predicted starts and ends; nil: not requested.
	Ranges   []whatif.Reliability `json:"ranges,omitempty"`
	replayed *whatif.Replayed     // nil: with another policy
}

// A Recording opens a recorded run at its start and passes it to use, with the options of the run. If policy is not
// empty, the options are for that policy instead.
type Recording func(policy string, use func(*journal.Reader, whatif.Options) error) error

// JudgeReplay replays a recorded run and simulates it. If policy is not empty, it only simulates the run, under that
// policy. If ranges is true, it also tests the predictions of starts and ends that a live scheduler would have made.
func JudgeReplay(ctx context.Context, recording Recording, policy string, ranges bool) (*Verdict, error) {
	v := &Verdict{}
	if err := recording(policy, func(j *journal.Reader, o whatif.Options) error { return v.replay(ctx, j, o, policy) }); err != nil {
		return nil, err
	}
	compare := func(j *journal.Reader, o whatif.Options) (err error) {
		v.Fidelity, err = whatif.Compare(ctx, j, o)
		return err
	}
	if err := recording("", compare); err != nil {
		return nil, err
	}
	v.Trust = Trust(v.Fidelity)
	if v.Policy != v.Recorded {
		if err := recording(policy, compare); err != nil {
			return nil, err
		}
	}
	if v.Truncated = v.Fidelity.Truncated; !ranges || v.replayed == nil || v.First != "" {
		return v, nil
	}
	err := recording(policy, func(j *journal.Reader, o whatif.Options) (err error) {
		v.Ranges, err = whatif.Reliable(ctx, j, v.Rounds, o)
		return err
	})
	return v, err
}

func (v *Verdict) replay(ctx context.Context, j *journal.Reader, o whatif.Options, policy string) (err error) {
	h := j.Header()
	v.Recorded, v.Policy, v.Unsealed = h.Policy, h.Policy, !j.Sealed()
	if policy != "" && policy != h.Policy {
		v.Policy = policy
		return nil
	}
	if v.replayed, err = whatif.Replay(ctx, j, o); err != nil {
		return err
	}
	v.Rounds, v.Actions = v.replayed.Rounds, v.replayed.Asked
	if v.replayed.First != nil {
		v.First = v.replayed.First.Error()
	}
	return nil
}

// ActionsDiffer reports whether the first difference between replay and recording is an action, such as a start. It is
// false for a reason, a price or another number.
func (v *Verdict) ActionsDiffer() bool {
	return v.replayed != nil && v.replayed.First != nil && v.replayed.First.Field == ""
}

// Trust converts the accuracy f of a simulation under the run's own policy into the form for reports.
func Trust(f *whatif.Fidelity) *metrics.Trust {
	recorded := metrics.Figures{JCT: inSeconds(f.RealJCT), Wait: inSeconds(f.RealWait), Utilisation: f.RealUtilisation}
	simulated := metrics.Figures{JCT: inSeconds(f.PredictedJCT), Wait: inSeconds(f.PredictedWait), Utilisation: f.PredictedUtilisation}
	late := endless(f)
	return metrics.Judge(recorded, simulated, len(f.Jobs)-late, late, inSeconds(f.Round), causes(f))
}

func inSeconds(s journal.Seconds) float64 { return time.Duration(s).Seconds() }

func endless(f *whatif.Fidelity) int {
	n := 0
	for _, m := range f.Jobs {
		if m.Predicted < 0 {
			n++
		}
	}
	return n
}

func causes(f *whatif.Fidelity) []string {
	var all []string
	add := func(n int, text string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s: %d", text, n))
		}
	}
	add(f.Nodes, "nodes that joined or left")
	add(f.Lost, "losses of GPUs by failures")
	add(f.Reserved, "jobs with reservations")
	add(endless(f), "jobs that did not end in the simulation")
	add(f.Ended, "jobs that were cancelled or failed, and end at the same age in the simulation")
	add(f.Open, "jobs that had not ended")
	add(f.Restored, "jobs running or waiting when the recording began")
	unmodelled := 0
	for _, m := range f.Jobs {
		if !m.Modelled {
			unmodelled++
		}
	}
	add(unmodelled, "jobs that never reported their speed")
	if f.Truncated {
		all = append(all, "the recording was cut off")
	}
	if len(f.Jobs) == 0 {
		all = append(all, "no job was completed")
	}
	return all
}
