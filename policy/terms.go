package policy

import "github.com/oxgang/oxgang/model/job"

// A Weigher is a policy that weighs jobs against one another, and says how.
type Weigher interface {
	Policy
	// Weighed returns what a job counted in the last plan; false if it was not in it.
	Weighed(id job.ID) (Terms, bool)
	// Ignore leaves terms out of all plans from now on, as far as they bear on a job. A copy of a policy that
	// decides a round again without a term shows whether that term decided.
	Ignore(id job.ID, all ...Term)
}

// A Term is a part of what decides about a job. The first four make jobs count more or less beside others, and are left
// out for all of them: they then count alike.
type Term uint8

// The terms.
const (
	TermWork     Term = iota // the work that it and others have left
	TermEnd                  // the end of all jobs, which depends on some
	TermFair                 // the finish-time fairness that each is heading for
	TermShare                // what users give each
	TermRestart              // what a move or a preemption costs the job
	TermMargin               // what a better choice for it must be better by
	TermOthers               // what a preemption would cost others
	TermLoan                 // that nodes on loan may go back before it ends
	TermPriority             // that jobs of a higher priority go before others; left out for all
	terms
)

var termNames = [terms]string{"work", "end", "fairness", "share", "restart", "margin", "others", "loan", "priority"}

// String returns the term in a word.
func (t Term) String() string {
	if t >= terms {
		return "unknown"
	}
	return termNames[t]
}

// MarshalText implements encoding.TextMarshaler.
func (t Term) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// AllTerms returns every term.
func AllTerms() []Term {
	all := make([]Term, terms)
	for i := range all {
		all[i] = Term(i)
	}
	return all
}

// Terms are what decided how much a job counted in a plan beside others: its weight is
// (Rank + Slack·Jobs) · max(1, Rho)² · Share, within bounds.
type Terms struct {
	Weight float64
	Mean   float64 // weight, of all jobs of the plan
	Jobs   int     // of the plan, less those that are profiled
	Rank   float64 // jobs with as much work left as it has; of a fixed GPU count, halfway to Smith's rule
	Slack  float64 // 0 to 1: how much the end of all jobs depends on it
	Rho    float64 // the finish-time fairness it is heading for
	Share  float64 // what its user or queue counts
	Last   float64 // how many times more it counts that it runs, however fast, because the end of all waits for it; 0: it does not
	// Restart is the seconds that a move counts, or a preemption: the restart, and the
	// work that it would do twice, of which a second may count more than one. Move is the part of its goodput that is left by it over the
	// time in which it has to pay. Redone is the seconds of work that it would do twice. All are 0 if it holds nothing.
	Restart, Move, Redone float64
	// Assumed says in words what was taken for granted, where nothing is known of the job, or what is said
	// of it cannot be; nil: nothing was.
	Assumed []string `json:",omitempty"`
	// Decided are the terms without any one of which the job would have been granted other GPUs, or more or fewer; none:
	// none decided alone. Weighed leaves it to who decides again.
	Decided []Term `json:",omitempty"`
}
