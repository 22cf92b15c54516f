package oxgang

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// Nodes on loan. All nodes that owners offer are borrowed. Nodes that owners want back are returned before the plan,
// those with the fewest jobs first; a job that cannot run without them counts as waiting. Types with only lent nodes
// are GPU types of their own. Source: Lyra §4.
//
// On loan, a job's goodput is multiplied by T / (T + P·(restart + loss)). T is the time until it ends. P is the part
// of the nodes that owners expect to want back by then. The loss is the work lost with the node: all of T without
// checkpoints.

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

// A tenure is the loans of a GPU type whose nodes are all on loan, one per owner.
type tenure []*cluster.Loan

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

func (o owners) askedBack(t tenure, within time.Duration) float64 {
	lent, back := 0, 0.0
	for _, l := range t {
		now, least := l.Lent+l.Spare, l.Lent+l.Spare
		for k, n := range l.Expected {
			if time.Duration(k)*l.Every < within {
				least = min(least, n)
			}
		}
		lent, back = lent+now, back+float64(now-least)*o[l.Group].belief()
	}
	return back / float64(max(1, lent))
}

// stable returns the factor for the risk of a return, with the given work left on column k; 1 for nodes that are not on
// loan.
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
	return seconds / (seconds + p.owners.askedBack(t, within)*max(0, loss))
}

func displaced(s, rest *policy.Snapshot, plan *policy.Plan) {
	for i, j := range s.Jobs {
		if lost(j, rest.Jobs[i]) {
			plan.Jobs[i].Why = policy.Reason{Kind: policy.Reclaimed, Config: j.Allocation.Configuration}
		}
	}
}

func lost(before, rest *policy.Job) bool { return before.Holding() && !rest.Holding() }
