package policy

import "github.com/oxgang/oxgang/model/job"

// A Weigher is a policy that gives each job a weight, and can report how the weight came about.
type Weigher interface {
	Policy
	// Weighed returns the terms of a job's weight in the last plan; false if the job was not in it.
	Weighed(id job.ID) (Terms, bool)
	// Ignore removes terms from the decisions about a job in all later plans. If a copy of the policy then decides
	// differently, the term was decisive.
	Ignore(id job.ID, all ...Term)
}

// A Term is a consideration in the decision about a job, such as its remaining work. The first four weigh jobs
// against each other; ignoring one makes it equal for all jobs.
type Term uint8

// The terms.
const (
	TermWork     Term = iota // remaining work, its own and others'
	TermEnd                  // the end of all jobs
	TermFair                 // expected finish-time fairness
	TermShare                // weights of users
	TermRestart              // cost of a move or a preemption for the job
	TermMargin               // margin by which another choice must be better
	TermOthers               // cost of preemptions for others
	TermLoan                 // nodes on loan may go back before it ends
	TermPriority             // jobs of a higher priority go first; ignored for all
	terms
)

var termNames = [terms]string{"work", "end", "fairness", "share", "restart", "margin", "others", "loan", "priority"}

func (t Term) String() string {
	if t >= terms {
		return "unknown"
	}
	return termNames[t]
}

// MarshalText implements encoding.TextMarshaler.
func (t Term) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// AllTerms returns all terms.
func AllTerms() []Term {
	all := make([]Term, terms)
	for i := range all {
		all[i] = Term(i)
	}
	return all
}

// Terms are the terms of a job's weight in a plan: (Rank + Slack·Jobs) · max(1, Rho)² · Share, within bounds.
type Terms struct {
	Weight float64
	Mean   float64 // mean weight of all jobs
	Jobs   int     // in the plan, without profiled ones
	Rank   float64 // jobs with at least as much remaining work; with a fixed GPU count, halfway to Smith's rule
	Slack  float64 // 0 to 1: how much the end of all jobs depends on it
	Rho    float64 // expected finish-time fairness
	Share  float64 // weight of its user or queue
	Last   float64 // additional factor for running at any speed, because the end of all jobs depends on it; 0: none
	// Restart is the cost of a move or preemption in seconds: the restart, plus the work done twice, whose
	// seconds may be weighted. Move is the part of its goodput that remains after a move, over the time in
	// which the move must pay. Redone is the seconds of work done twice. All are 0 if it holds nothing.
	Restart, Move, Redone float64
	// Assumed describes assumptions about unknown or impossible values of the job.
	Assumed []string `json:",omitempty"`
	// Decided are the terms that decided alone: without any one of them the job would have got other GPUs.
	// Weighed leaves it empty.
	Decided []Term `json:",omitempty"`
}
