package local

import (
	"fmt"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// maxUnended is how many jobs of one user may not have ended, where jobs are several users'. Tests lower it.
var maxUnended = 1000

// Quotas say how many GPUs the jobs of a user may hold at once, together.
type Quotas struct {
	Of     map[int]int // by uid
	Others int         // of users whom Of does not have; 0: as many as there are
}

// most returns the quota of a user; limited: he has one.
func (q *Quotas) most(u *account.User) (most int, limited bool) {
	if u == nil {
		return 0, false
	}
	if n, ok := q.Of[u.UID]; ok {
		return n, true
	}
	return q.Others, q.Others > 0
}

// checkQuota returns an error if a new job of a user can never run within his quota, or he has too many.
func (b *Backend) checkQuota(spec *job.Spec, u *account.User) error {
	if u == nil {
		return nil
	}
	if most, limited := b.o.Quotas.most(u); limited && least(spec) > most {
		return fmt.Errorf("%d GPUs, and the jobs of %s may hold %d at once: ask for fewer", least(spec), u.Name(), most)
	}
	n := 0
	for _, e := range b.jobs.Order {
		if o := e.Request.User; o != nil && o.UID == u.UID && !e.Over {
			n++
		}
	}
	if n >= maxUnended {
		return fmt.Errorf("%d jobs of %s have not ended, want fewer: wait, or cancel some", n, u.Name())
	}
	return nil
}

// least returns the fewest GPUs that a job runs on.
func least(s *job.Spec) int {
	if !s.Adaptivity.Has(job.GPUCount) {
		return s.GPUs
	}
	return max(1, s.MinGPUs)
}

// mostOf returns the most GPUs that a job may have on this machine.
func (t *jobTable) mostOf(s *job.Spec) int {
	if !s.Adaptivity.Has(job.GPUCount) {
		return s.GPUs
	}
	if s.MaxGPUs == 0 {
		return len(t.o.Machine.Slots)
	}
	return s.MaxGPUs
}

// granted returns how many GPUs the jobs of a user that were admitted may hold, together. A job that has ended counts
// until its processes are gone.
func (t *jobTable) granted(u *account.User) int {
	n := 0
	for _, e := range t.Order {
		if o := e.Request.User; o != nil && o.UID == u.UID && !e.withheld {
			n += t.mostOf(e.Spec)
		}
	}
	return n
}

// admit shows the scheduler jobs that were withheld from it, as far as the quotas of their users allow, in the order in
// which they came; of one user none passes another. What is left of his quota bounds the GPUs of a job for good:
// so whatever the scheduler plans, no user has more than his quota.
func (t *jobTable) admit() {
	full := map[int]bool{}
	for _, e := range t.Order {
		if !e.withheld || e.Over || full[e.Request.User.UID] {
			continue
		}
		most, _ := t.o.Quotas.most(e.Request.User)
		if left := most - t.granted(e.Request.User); least(e.Spec) > left || !t.grant(e, left) {
			full[e.Request.User.UID] = true
		}
	}
}

// grant shows a job to the scheduler, with at most so many GPUs. It reports whether that could be written.
func (t *jobTable) grant(e *entry, most int) bool {
	spec := bounded(e.Spec, most)
	if err := t.wrote(t.store.Describe(e.Spec.ID, spec)); err != nil {
		return false
	}
	e.Spec, e.withheld = spec, false
	t.remember(e, nil)
	t.Events.Emit(scheduler.Submitted{Spec: spec})
	return true
}

// bounded returns a job that is to have at most so many GPUs: those of a rigid one stay.
func bounded(s *job.Spec, most int) *job.Spec {
	if !s.Adaptivity.Has(job.GPUCount) || s.MaxGPUs != 0 && s.MaxGPUs <= most {
		return s
	}
	less := *s
	less.MaxGPUs = most
	return &less
}

// withheldBy says why a job is withheld from the scheduler, for people; empty if it is not.
func (t *jobTable) withheldBy(e *entry) string {
	if !e.withheld {
		return ""
	}
	u := e.Request.User
	most, _ := t.o.Quotas.most(u)
	return fmt.Sprintf("it needs %d GPUs, and %d of the %d that jobs of %s may hold at once are given to jobs of theirs that came before", least(e.Spec), t.granted(u), most, u.Name())
}
