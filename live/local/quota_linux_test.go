package local

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

// limited runs a backend of four slots in which users have quotas.
func limited(t *testing.T, q Quotas) *stage {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root, who alone can run jobs as other users")
	}
	o := options(t, 4)
	o.Quotas = q
	return newStage(t, o)
}

// of submits a job of a user, which runs until it is stopped.
func (s *stage) of(u *account.User, name string, spec job.Spec) (job.ID, error) {
	return s.Submit(name, &spec, store.Request{Command: []string{"sleep", "1000"}, Dir: "/", Env: os.Environ(), User: u})
}

func (s *stage) must(id job.ID, err error) job.ID {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

var (
	rigid   = func(n int) job.Spec { return job.Spec{GPUs: n, Adaptivity: job.Rigid} }
	elastic = job.Spec{GPUs: 1, MaxGPUs: 4, Adaptivity: job.StrongScaling}
)

// What is left of a quota bounds an elastic job, also when its program describes it, and the job after it waits.
func TestQuota_bounds_elastic_jobs(t *testing.T) {
	t.Parallel()
	s := limited(t, Quotas{Others: 3})
	first := s.must(s.of(&account.User{}, "first", elastic))
	second := s.must(s.of(&account.User{}, "second", elastic))
	others := s.must(s.of(&account.User{UID: 54001, GID: 54001}, "others", rigid(1)))
	described := elastic
	described.ID, described.Name, described.BatchSize = first, "first", 64
	s.Lock()
	err := s.jobs.describe(s.jobs.ByID[first], &described)
	s.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	s.up(others, 1)
	await(t, "the first job to have all that the quota allows", func() bool { return s.row(first).Allocation.GPUs == 3 })
	if row := s.row(first); row.Spec.MaxGPUs != 3 || row.Spec.BatchSize != 64 || row.Allocation.GPUs != 3 {
		t.Errorf("%d GPUs of at most %d, want 3 of 3", row.Allocation.GPUs, row.Spec.MaxGPUs)
	}
	if l := s.job(second); !strings.Contains(l.Withheld, "earlier jobs of root use 3 of its quota of 3") || len(l.Held) > 0 {
		t.Errorf("the second holds %v: %q", l.Held, l.Withheld)
	}
	if err := s.Cancel(first); err != nil {
		t.Fatal(err)
	}
	s.up(second, 1)
}

// Of the jobs of one user none passes another: a large one does not wait for ever.
func TestQuota_in_order(t *testing.T) {
	t.Parallel()
	s := limited(t, Quotas{Of: map[int]int{0: 2}})
	first := s.must(s.of(&account.User{}, "first", rigid(1)))
	large := s.must(s.of(&account.User{}, "large", rigid(2)))
	small := s.must(s.of(&account.User{}, "small", rigid(1)))
	s.up(first, 1)
	if s.job(large).Withheld == "" || s.job(small).Withheld == "" {
		t.Error("one of those that came later was admitted")
	}
	if err := s.Cancel(small); err != nil { // the scheduler has never known it
		t.Fatal(err)
	}
	if s.Busy(small) {
		t.Error("a job that was cancelled while it waited for the quota is still there")
	}
	if err := s.Cancel(first); err != nil {
		t.Fatal(err)
	}
	s.up(large, 1)
}

// After a restart what had started goes on, also under a lower quota, and the others wait for theirs.
func TestQuota_after_a_restart(t *testing.T) {
	t.Parallel()
	s := limited(t, Quotas{Others: 3})
	first := s.must(s.of(&account.User{}, "first", elastic))
	second := s.must(s.of(&account.User{}, "second", rigid(1)))
	s.up(first, 1)
	for _, q := range []int{3, 1} {
		o := s.o
		o.Quotas = Quotas{Others: q}
		again, err := Open(s.jobs.store, o)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := again.jobs.ByID[first], again.jobs.ByID[second]; a.withheld || a.Spec.MaxGPUs != 3 || !b.withheld {
			t.Errorf("quota %d: withheld %v and %v, at most %d GPUs; want the second withheld, and 3", q, a.withheld, b.withheld, a.Spec.MaxGPUs)
		}
	}
	o := s.o
	o.Quotas = Quotas{}
	again, err := Open(s.jobs.store, o)
	if err != nil || again.jobs.ByID[second].withheld {
		t.Errorf("without quotas: %v, and withheld", err)
	}
}

// A user cannot fill the table of jobs.
func TestSubmit_of_too_many(t *testing.T) {
	was := maxUnended
	maxUnended = 5
	t.Cleanup(func() { maxUnended = was })
	s := limited(t, Quotas{Others: 1})
	for i := range maxUnended {
		s.must(s.of(&account.User{}, fmt.Sprint("j", i), rigid(1)))
	}
	if id, err := s.of(&account.User{}, "more", rigid(1)); err == nil || !strings.Contains(err.Error(), "root has 5 unfinished jobs") {
		t.Errorf("got %s, %v; want that there are too many", id, err)
	}
	s.must(s.of(&account.User{UID: 54001, GID: 54001}, "others", rigid(1)))
}
