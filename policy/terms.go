package policy

import "github.com/oxgang/oxgang/job"

// A Weigher is a policy that weighs jobs against one another, and says how.
type Weigher interface {
	Policy
	// Weighed returns what a job counted in the last plan; false if it was not in it.
	Weighed(id job.ID) (Terms, bool)
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
	// Restart is the seconds that a move costs it, or a preemption: the restart, and the
	// work that it would do twice. Move is the part of its goodput that is left by it over the
	// time in which it has to pay; both are 0 if it holds nothing.
	Restart, Move float64
	// Assumed says in words what was taken for granted, where nothing is known of the job, or what is said
	// of it cannot be; nil: nothing was.
	Assumed []string `json:",omitempty"`
}
