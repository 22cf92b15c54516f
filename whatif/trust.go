package whatif

import (
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/scheduler"
)

// Tolerance is the largest relative error of a simulation of a recorded run under its own policy with
// which what it says of another policy is to be trusted.
const Tolerance = 0.05

// A Trust says how well a recorded run is simulated under its own policy: relative errors, positive
// where the simulation has more.
type Trust struct {
	JCT         float64 `json:"jct"`         // of the mean JCT
	Wait        float64 `json:"wait"`        // of the mean time from submission to the first start
	Utilisation float64 `json:"utilisation"` // of the GPU time that jobs held until the last end
	Trusted     bool    `json:"trusted"`     // all are within Tolerance
	// Causes are what the simulation is known to lack of the run; only where it is not trusted.
	Causes []string `json:"causes,omitempty"`
}

// Trust compares the simulation with the run. Differences of the mean wait that are smaller than a
// round count as none: nothing starts between rounds.
func (f *Fidelity) Trust() *Trust {
	t := &Trust{JCT: relative(f.PredictedJCT, f.RealJCT, 0), Wait: relative(f.PredictedWait, f.RealWait, f.Round), Utilisation: relative(f.PredictedUse, f.RealUse, 0)}
	worst := max(math.Abs(t.JCT), math.Abs(t.Wait), math.Abs(t.Utilisation))
	if t.Trusted = worst <= Tolerance && len(f.Jobs) > 0; !t.Trusted {
		t.Causes = f.causes()
	}
	return t
}

// relative returns the relative error of a prediction; 0 if the difference is below least.
func relative(predicted, actual, least journal.Seconds) float64 {
	off := float64(predicted - actual)
	if math.Abs(off) < float64(least) || off == 0 {
		return 0
	}
	return off / max(float64(actual), 1)
}

// causes says what of the run the simulation lacks.
func (f *Fidelity) causes() []string {
	var all []string
	add := func(n int, format string) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, n))
		}
	}
	add(f.Nodes, "nodes joined or left %d times")
	add(f.Lost, "jobs lost their GPUs by failures %d times")
	add(f.Ended, "%d jobs were cancelled or failed")
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

// A service counts the GPU time that jobs hold in a run, and their first starts.
type service struct {
	came, first map[job.ID]time.Time
	held        map[job.ID]int
	since       time.Time
	gpus        int
	used        float64 // GPU-seconds up to since
}

func newService() *service {
	return &service{came: map[job.ID]time.Time{}, first: map[job.ID]time.Time{}, held: map[job.ID]int{}}
}

func (u *service) event(now time.Time, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Submitted:
		u.came[ev.Spec.ID] = now
	case scheduler.Restored:
		if n := ev.Status.Allocation.AllGPUs(); n > 0 {
			u.hold(now, ev.Spec.ID, n)
		}
	case scheduler.Exited:
		u.hold(now, ev.Job, 0)
	}
}

func (u *service) acted(now time.Time, acts []scheduler.Action) {
	for _, a := range acts {
		switch a := a.(type) {
		case scheduler.Preempt:
			u.hold(now, a.Job, 0)
		case scheduler.Run:
			u.hold(now, a.Job, a.Allocation.AllGPUs())
		}
	}
}

// hold records that a job holds a number of GPUs from now on.
func (u *service) hold(now time.Time, id job.ID, gpus int) {
	if u.gpus > 0 {
		u.used += float64(u.gpus) * now.Sub(u.since).Seconds()
	}
	u.since = now
	u.gpus += gpus - u.held[id]
	u.held[id] = gpus
	if _, ok := u.first[id]; !ok && gpus > 0 {
		u.first[id] = now
	}
}

// wait returns how long a job waited for its first GPUs; false if it was not submitted in the run, or
// got none.
func (u *service) wait(id job.ID) (time.Duration, bool) {
	came, ok := u.came[id]
	first, started := u.first[id]
	return first.Sub(came), ok && started
}
