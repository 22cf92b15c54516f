package local

import (
	"fmt"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

var maxUnended = 1000

// Quotas limit how many GPUs all jobs of one user together may hold.
type Quotas struct {
	Of     map[int]int // limits of GPUs by user ID
	Others int         // limit of every other user; 0: no limit
}

func (q *Quotas) most(u *account.User) (most int, limited bool) {
	if u == nil {
		return 0, false
	}
	if n, ok := q.Of[u.UID]; ok {
		return n, true
	}
	return q.Others, q.Others > 0
}

func (b *Backend) checkQuota(spec *job.Spec, u *account.User) error {
	if u == nil {
		return nil
	}
	if most, limited := b.o.Quotas.most(u); limited && minGPUs(spec) > most {
		return fmt.Errorf("the job needs %s, but the quota of %s is %d: ask for fewer", printable.Count(minGPUs(spec), "GPU"), u.Name(), most)
	}
	n := 0
	for _, e := range b.jobs.Order {
		if o := e.Request.User; o != nil && o.UID == u.UID && !e.Over {
			n++
		}
	}
	if n >= maxUnended {
		return fmt.Errorf("%s has %d unfinished jobs, which is the maximum: wait, or cancel some", u.Name(), n)
	}
	return nil
}

func minGPUs(s *job.Spec) int {
	if !s.Adaptivity.Has(job.GPUCount) {
		return s.GPUs
	}
	return max(1, s.MinGPUs)
}

func (t *jobTable) mostOf(s *job.Spec) int {
	if !s.Adaptivity.Has(job.GPUCount) {
		return s.GPUs
	}
	if s.MaxGPUs == 0 {
		return len(t.o.Machine.Slots)
	}
	return s.MaxGPUs
}

func (t *jobTable) granted(u *account.User) int {
	n := 0
	for _, e := range t.Order {
		if o := e.Request.User; o != nil && o.UID == u.UID && !e.withheld {
			n += t.mostOf(e.Spec)
		}
	}
	return n
}

// admit keeps the order of a user's jobs. The rest of the quota limits the job's GPUs for good, so no plan can
// exceed the quota.
func (t *jobTable) admit() {
	full := map[int]bool{}
	for _, e := range t.Order {
		if !e.withheld || e.Over || full[e.Request.User.UID] {
			continue
		}
		most, _ := t.o.Quotas.most(e.Request.User)
		if left := most - t.granted(e.Request.User); minGPUs(e.Spec) > left || !t.grant(e, left) {
			full[e.Request.User.UID] = true
		}
	}
}

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

func bounded(s *job.Spec, most int) *job.Spec {
	if !s.Adaptivity.Has(job.GPUCount) || s.MaxGPUs != 0 && s.MaxGPUs <= most {
		return s
	}
	less := *s
	less.MaxGPUs = most
	return &less
}

func (t *jobTable) withheldBy(e *entry) string {
	if !e.withheld {
		return ""
	}
	u := e.Request.User
	most, _ := t.o.Quotas.most(u)
	return fmt.Sprintf("it needs %s, but earlier jobs of %s use %d of its quota of %d", printable.Count(minGPUs(e.Spec), "GPU"), u.Name(), t.granted(u), most)
}
