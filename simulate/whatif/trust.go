package whatif

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
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

// A service counts the GPU time that jobs hold in a run, and their first starts.
type service struct {
	came, first map[job.ID]time.Time
	held        map[job.ID]int
	since       time.Time
	gpus        int
	used        float64 // GPU-seconds up to since
	done        float64 // GPU-seconds up to the last completion of a job
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
		if u.hold(now, ev.Job, 0); ev.Outcome == scheduler.Done {
			u.done = u.used
		}
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
