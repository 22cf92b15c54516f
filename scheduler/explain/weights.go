package explain

import (
	"fmt"
	"math"
	"strings"

	"github.com/oxgang/oxgang/policy"
)

// Weigh adds to a moment what its job counted in the plan.
func (m *Moment) Weigh(t policy.Terms) { m.Terms, m.Weight = &t, weighed(t) }

// weighed says in words what a job counted in a plan beside others, and why: the terms that
// moved its weight, what it would cost to move it, which terms decided, and what was assumed.
func weighed(t policy.Terms) string {
	parts := []string{rank(t)}
	if extra := t.Slack * float64(t.Jobs); extra >= 0.05 {
		parts = append(parts, fmt.Sprintf("%s more because the end of all jobs depends on it", number(extra)))
	}
	if t.Last >= 0.05 {
		parts = append(parts, fmt.Sprintf("that it runs at all counts %s times more, because the end of all jobs waits for it", number(t.Last)))
	}
	if t.Rho > 1.05 {
		parts = append(parts, fmt.Sprintf("times %s because it is heading for %s times its fair time", number(t.Rho*t.Rho), number(t.Rho)))
	}
	if t.Share != 1 {
		parts = append(parts, "times "+number(t.Share)+", its share")
	}
	if t.Restart > 0 {
		parts = append(parts, moves(t))
	}
	parts = append(parts, swayed(t.Decided))
	if len(t.Assumed) > 0 {
		parts = append(parts, "assumed: "+strings.Join(t.Assumed, "; "))
	}
	return fmt.Sprintf("it counts %s, the mean is %s: ", number(t.Weight), number(t.Mean)) + strings.Join(parts, "; ")
}

// deciding says what each term is.
var deciding = map[policy.Term]string{
	policy.TermWork: "the work that each has left", policy.TermEnd: "the end of all jobs, which depends on some", policy.TermFair: "how unfairly each is treated",
	policy.TermShare: "the shares", policy.TermRestart: "what a move costs it", policy.TermMargin: "that what is better must be better by a tenth",
	policy.TermOthers: "what a preemption would cost others", policy.TermLoan: "that nodes on loan may go back",
	policy.TermPriority: "the priorities",
}

// swayed says which terms decided: without any one of them the job would have been granted other GPUs, or none.
func swayed(all []policy.Term) string {
	if len(all) == 0 {
		return "none of these decided alone"
	}
	words := make([]string, len(all))
	for i, t := range all {
		words[i] = deciding[t]
	}
	return "decided by " + strings.Join(words, ", and by ")
}

// rank says what its length counts.
func rank(t policy.Terms) string {
	if t.Rank == math.Trunc(t.Rank) {
		return fmt.Sprintf("of the %s weighed %d %s no less work left, itself among them", count(t.Jobs, "job"), int(t.Rank), has(int(t.Rank)))
	}
	return fmt.Sprintf("%s for the work it has left, among the %s weighed", number(t.Rank), count(t.Jobs, "job"))
}

func has(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// moves says what a move would cost.
func moves(t policy.Terms) string {
	if t.Redone > 0 {
		return fmt.Sprintf("a move would have it do %s of work again, counts as a loss of %s, and leaves %.0f %% of its speed over the next 15 minutes", secs(t.Redone), secs(t.Restart), 100*t.Move)
	}
	return fmt.Sprintf("a move costs it %s, and leaves %.0f %% of its speed over the next 15 minutes", secs(t.Restart), 100*t.Move)
}
