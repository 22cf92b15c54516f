package e2e

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// Wherever the scheduler is killed while it starts two jobs, it ends where it does without,
// and no job is started twice.
func TestCrash_while_jobs_start(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	newTurn(t, &starts).enumerate(&fault.Scenario{Moments: []fault.Moment{fault.Applied}})
}

// The same at every moment, and of everything else that it does with jobs.
func TestCrash_at_every_write(t *testing.T) {
	for i := range plays {
		t.Run(plays[i].name, func(t *testing.T) {
			long(t, plays[i].showed)
			t.Parallel()
			newTurn(t, &plays[i]).enumerate(&fault.Scenario{Kill: plays[i].news()})
		})
	}
}

// enumerate fails for every complaint, and for every write in an act that is to be silent.
func (s *turn) enumerate(of *fault.Scenario) {
	of.Kill = s.play.hear(of.Kill, func(act string, c *fault.Call) { s.Errorf("%s: it wrote: %s", act, c.String()) })
	all := s.outcomes(of)
	for _, o := range fault.Complaints(all) {
		s.Errorf("killed at %s, %s: %s", o.Call.String(), o.Moment, o.Complain)
	}
}

// outcomes goes through a play as of says.
func (s *turn) outcomes(of *fault.Scenario) []fault.Outcome {
	of.Config, of.Within = s.Config, 10*time.Second
	of.Prepare = func(testing.TB) { s.prepare() }
	of.Start = s.start
	of.Final = func(testing.TB) string { return s.final() }
	of.Audit = func(testing.TB) []audit.Finding { return s.findings() }
	for i := range s.play.acts {
		a := &s.play.acts[i]
		of.Acts = append(of.Acts, fault.Act{
			Name: a.name, Do: func(testing.TB) { a.do(s) }, Settled: func(testing.TB) bool { return s.settled(a) },
		})
	}
	all := fault.Enumerate(s, of)
	s.Log("\n" + fault.Report(all) + "\n" + all[0].Final)
	return all
}
