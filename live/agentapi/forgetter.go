package agentapi

import (
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

type forgetter struct{ server *Server }

// Forgetter returns an observer of the scheduler that deletes the server's data about each job when it ends.
func (s *Server) Forgetter() scheduler.Observer { return forgetter{s} }

func (f forgetter) Event(_ time.Time, ev scheduler.Event) {
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome != scheduler.Lost {
		f.server.Forget(e.Job)
	}
}

func (forgetter) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}
