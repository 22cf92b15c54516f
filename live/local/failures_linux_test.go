package local

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/model/job"
)

// Failures in a row are forgotten by a checkpoint of more steps than the one that the start restored, and not by one of the same.
func TestCheckpoint_without_progress_forgets_no_failure(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 1))
	id := s.script("fails", "exec sleep 1000", &job.Spec{GPUs: 1, Adaptivity: job.Rigid})
	a := s.agent(id)
	s.up(id, 1)
	a.must("hello", helloOf(1, 1))
	s.Lock()
	e := s.jobs.ByID[id]
	e.Failures, e.current().step = 3, 5
	s.Unlock()
	for step, want := range []int{5: 3, 6: 0} {
		if step < 5 {
			continue
		}
		a.must("checkpoint", fmt.Sprintf(`{"generation":1,"step":%d,"progress":320,"epoch":0,"bytes":4,"seconds":0,"path":"p%[1]d","checksum":%[2]q}`, step, checksum))
		s.Lock()
		if e.Failures != want {
			t.Errorf("after a checkpoint of step %d: %d failures, want %d", step, e.Failures, want)
		}
		s.Unlock()
	}
}

// A job that has ended uses its user's quota until its processes are gone.
func TestQuota_of_a_job_that_stops(t *testing.T) {
	t.Parallel()
	s := limited(t, Quotas{Others: 3})
	root := &account.User{}
	id := s.must(s.of(root, "stops", rigid(2)))
	s.up(id, 1)
	s.Lock()
	defer s.Unlock()
	e := s.jobs.ByID[id]
	e.Over = true
	if got := s.jobs.granted(root); got != 2 {
		t.Errorf("%d GPUs of the quota are used, want the 2 of the job that has processes", got)
	}
	e.Over = false
}
