package store

import (
	"testing"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// Only jobs that have ended are forgotten: with one that has not among them, none is.
func TestForget(t *testing.T) {
	s := opened(t, t.TempDir())
	accepted(t, s, "runs", "c")
	accepted(t, s, "done", "c")
	must(t, s.End("done", Ending{Outcome: scheduler.Done, At: at(1)}))
	for id, list := range map[job.ID][]job.ID{"runs": {"done", "runs"}, "nobody": {"done", "nobody"}} {
		wants(t, s.Forget(list), "job "+string(id)+": is unknown or has not ended")
	}
	commands := func() map[job.ID]int {
		jobs, err := s.Jobs(true)
		must(t, err)
		all := map[job.ID]int{}
		for _, j := range jobs {
			all[j.Spec.ID] = len(j.Request.Command)
		}
		return all
	}
	if c := commands(); c["done"] != 2 || c["runs"] != 2 {
		t.Errorf("commands %v after errors, want both to be there", c)
	}
	must(t, s.Forget([]job.ID{"done"}))
	must(t, s.Forget([]job.ID{"done"}))
	if c := commands(); c["done"] != 0 || c["runs"] != 2 {
		t.Errorf("commands %v, want only that of runs", c)
	}
	wants(t, s.Accept(newJob("done", "c")), "exists already")
}
