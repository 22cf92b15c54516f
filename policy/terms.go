package policy

import "github.com/oxgang/oxgang/model/job"

// A Weigher is a policy that gives each job a weight, and can report the terms from which it computed the weight.
type Weigher interface {
	Policy
	// Weighed returns the terms of a job's weight in the last plan; false if the plan did not include the
	// job.
	Weighed(id job.ID) (Terms, bool)
	// Ignore makes later plans without the given terms, as far as they concern job id; some terms are then dropped for
	// all jobs. Call it on a copy of the policy: if the copy decides differently on the job, the terms were decisive.
	Ignore(id job.ID, all ...Term)
}

// A Term is one consideration in the decision about a job, such as its remaining work. The first four terms compare
// jobs with each other: if one of them is ignored, all jobs count as equal in it.
type Term uint8

// The terms.
const (
	TermWork     Term = iota // remaining work, compared with other jobs
	TermEnd                  // how much the end of the last job of the plan depends on this job
	TermFair                 // expected finish-time fairness
	TermShare                // weight of the job's user
	TermRestart              // time that a move or preemption costs the job
	TermMargin               // margin by which another choice must be better
	TermOthers               // time that preemptions cost other jobs
	TermLoan                 // risk that nodes on loan go back before the job ends
	TermPriority             // jobs of higher priority go first; it can be ignored only for all jobs at once
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

// Terms are the parts of a job's weight in a plan. Weight is (Rank + Slack·Jobs) · max(1, Rho)² · Share,
// limited to a fixed range.
type Terms struct {
	// weight of the job
	Weight float64
	Mean   float64 // mean weight of all jobs
	Jobs   int     // number of jobs in the plan, without those being profiled
	// number of jobs with at least as much remaining work; for a job with a fixed GPU count, adjusted
	// halfway to Smith's rule
	Rank  float64
	Slack float64 // how much the end of the last job depends on this one, 0 to 1
	Rho   float64 // expected finish-time fairness
	Share float64 // weight of its user or queue
	// extra factor for running at any speed, because the end of the last job depends on this one; 0 if it
	// does not
	Last float64
	// Restart, Move and Redone are 0 if the job holds no GPUs. Restart is the cost of a move or preemption
	// in seconds: the restart itself plus the repeated work, whose seconds may be weighted. Move is the
	// fraction of the job's goodput that remains after a move, averaged over the time in which the move
	// must pay off. Redone is the seconds of repeated work.
	Restart, Move, Redone float64
	// Assumed lists, in words, the assumptions made where a value of the job was unknown or impossible.
	Assumed []string `json:",omitempty"`
	// Decided are the decisive terms: without any one of them the job would have got other GPUs. Weighed
	// leaves it empty.
	Decided []Term `json:",omitempty"`
}
