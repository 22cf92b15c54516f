package whatif

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

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

func (u *service) wait(id job.ID) (time.Duration, bool) {
	came, ok := u.came[id]
	first, started := u.first[id]
	return first.Sub(came), ok && started
}
