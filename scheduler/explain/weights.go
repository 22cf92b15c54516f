package explain

import (
	"fmt"
	"math"
	"strings"

	"github.com/oxgang/oxgang/policy"
)

// Weigh sets Terms, the terms of the job's weight, and Weight, their text.
func (m *Moment) Weigh(t policy.Terms) { m.Terms, m.Weight = &t, weighed(t) }

func weighed(t policy.Terms) string {
	parts := []string{rank(t)}
	if extra := t.Slack * float64(t.Jobs); extra >= 0.05 {
		parts = append(parts, fmt.Sprintf("plus %s because the end of all jobs depends on it", number(extra)))
	}
	if t.Last >= 0.05 {
		parts = append(parts, fmt.Sprintf("its first GPUs count %s times more, because the end of all jobs depends on it", number(t.Last)))
	}
	if t.Rho > 1.05 {
		parts = append(parts, fmt.Sprintf("times %s because it will take %s times its fair completion time", number(t.Rho*t.Rho), number(t.Rho)))
	}
	if t.Share != 1 {
		parts = append(parts, "times "+number(t.Share)+", its share")
	}
	if t.Restart > 0 {
		parts = append(parts, moves(t))
	}
	parts = append(parts, decidedBy(t.Decided))
	if len(t.Assumed) > 0 {
		parts = append(parts, "assumed: "+strings.Join(t.Assumed, "; "))
	}
	return fmt.Sprintf("its weight is %s (average %s): ", number(t.Weight), number(t.Mean)) + strings.Join(parts, "; ")
}

var deciding = map[policy.Term]string{
	policy.TermWork: "the remaining work of the jobs", policy.TermEnd: "the end of all jobs", policy.TermFair: "the fairness of the jobs",
	policy.TermShare: "the shares of the jobs", policy.TermRestart: "the cost of a move", policy.TermMargin: "the margin of 10 %",
	policy.TermOthers: "what a preemption would cost other jobs", policy.TermLoan: "the risk that nodes on loan go back",
	policy.TermPriority: "the priorities",
}

func decidedBy(all []policy.Term) string {
	switch {
	case len(all) == 0:
		return "no term alone decided"
	case len(all) == 1 && all[0] == policy.TermMargin:
		return "nothing changed: no other plan was at least 10 % better"
	}
	words := make([]string, len(all))
	for i, t := range all {
		words[i] = deciding[t]
	}
	return "decided by " + strings.Join(words, ", ")
}

func rank(t policy.Terms) string {
	if t.Rank == math.Trunc(t.Rank) {
		verb := "have"
		if t.Rank == 1 {
			verb = "has"
		}
		return fmt.Sprintf("%.0f for its remaining work (%.0f of the %s, itself included, %s at least as much left)", t.Rank, t.Rank, count(t.Jobs, "job"), verb)
	}
	return fmt.Sprintf("%s for its remaining work, among %s", number(t.Rank), count(t.Jobs, "job"))
}

func moves(t policy.Terms) string {
	slower := fmt.Sprintf("so a move to other GPUs leaves %.0f %% of its speed over the next 15 minutes", 100*t.Move)
	if t.Redone > 0 {
		return fmt.Sprintf("a restart repeats %s of work, which counts as a loss of %s, %s", secs(t.Redone), secs(t.Restart), slower)
	}
	return fmt.Sprintf("a restart takes %s, %s", secs(t.Restart), slower)
}
