package oxgang

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// Nodes on loan are GPU types of their own: those of which all nodes are lent. What
// their owners want back goes back before anything is decided, on the nodes whose jobs
// are fewest; the jobs there that cannot go on without them are like jobs that wait.
// All that owners would lend is borrowed. Source: Lyra §4.
//
// A job goes on loan for m = T / (T + P·(restart + loss)) of its goodput there, where T
// is the time until it ends, P the part of the nodes on loan that their owners expect
// to want back until then, and the loss what the job loses with its node: all of T if
// it has no checkpoints.

// borrow asks for all nodes that owners would lend.
func borrow(s *policy.Snapshot, plan *policy.Plan) {
	for i := range s.Loans {
		if l := &s.Loans[i]; l.Spare > 0 {
			if plan.Capacity == nil {
				plan.Capacity = make(map[cluster.Group]int)
			}
			plan.Capacity[l.Group] = l.Lent + l.Spare
		}
	}
}

// A tenure is the loans of a GPU type whose nodes are all on loan, one of each owner.
type tenure []*cluster.Loan

// tenures returns the GPU types on loan; nil if nothing is.
func tenures(s *policy.Snapshot) map[cluster.GPUType]tenure {
	if !s.Cluster.Lends() {
		return nil
	}
	lent := make(map[cluster.GPUType]tenure)
	for i := range s.Loans {
		l := &s.Loans[i]
		lent[l.Node.GPUType] = append(lent[l.Node.GPUType], l)
	}
	for _, t := range s.Cluster.TypesNotOnLoan() {
		delete(lent, t.Type)
	}
	return lent
}

// askedBack returns the part of the nodes on loan that are expected to go back within
// a time, so far as their owners were right before; 0 where no owner says what it expects.
func (p *Policy) askedBack(t tenure, within time.Duration) float64 {
	lent, back := 0, 0.0
	for _, l := range t {
		now, least := l.Lent+l.Spare, l.Lent+l.Spare
		for k, n := range l.Expected {
			if time.Duration(k)*l.Every < within {
				least = min(least, n)
			}
		}
		lent, back = lent+now, back+float64(now-least)*p.owners[l.Group].belief()
	}
	return back / float64(max(1, lent))
}

// stable returns what the risk of being asked back leaves of the goodput of a job of
// which so much work is left in column k; 1 on nodes that are not on loan.
func (p *Policy) stable(r *goodput.Row, k int, left float64) float64 {
	t, j := p.lent[r.Column(k).GPUType], r.Job()
	switch {
	case t == nil, p.ignored.own(j.ID, policy.TermLoan) && !j.NonPreemptive:
		return 1
	case j.NonPreemptive:
		return 0
	}
	seconds := left / r.Goodput(k)
	if !(seconds > 0) {
		return 1
	}
	within := time.Duration(math.Min(seconds, 365*24*3600) * float64(time.Second))
	loss := j.RestartOverhead.Seconds()
	if j.NoCheckpoint {
		loss += seconds
	}
	return seconds / (seconds + p.askedBack(t, within)*max(0, loss))
}

// displaced tells of the jobs whose nodes went back that could not go on without them.
func displaced(s, rest *policy.Snapshot, plan *policy.Plan) {
	for i, j := range s.Jobs {
		if lost(j, rest.Jobs[i]) {
			plan.Jobs[i].Why = policy.Reason{Kind: policy.Reclaimed, Config: j.Allocation.Configuration}
		}
	}
}

// lost reports whether a job has lost all its nodes in a round.
func lost(before, rest *policy.Job) bool { return before.Holding() && !rest.Holding() }
