package explain

import (
	"testing"

	"github.com/oxgang/oxgang/policy"
)

func TestWeighed(t *testing.T) {
	for want, x := range map[string]policy.Terms{
		"its weight is 12 (average 6.5): 12 for its remaining work (12 of the 12 jobs, itself included, have at least as much left); no term alone decided":                                                                                                                                       {Weight: 12, Mean: 6.5, Jobs: 12, Rank: 12, Rho: 0.8, Share: 1},
		"its weight is 1.96 (average 3): 1 for its remaining work (1 of the 5 jobs, itself included, has at least as much left); times 1.96 because it will take 1.4 times its fair completion time; no term alone decided":                                                                       {Weight: 1.96, Mean: 3, Jobs: 5, Rank: 1, Rho: 1.4, Share: 1},
		"its weight is 1 (average 1): 1 for its remaining work (1 of the 2 jobs, itself included, has at least as much left); its first GPUs count 8 times more, because the end of all jobs depends on it; no term alone decided":                                                                {Weight: 1, Mean: 1, Jobs: 2, Rank: 1, Last: 8, Share: 1},
		"its weight is 9 (average 3): 2.5 for its remaining work, among 5 jobs; plus 2 because the end of all jobs depends on it; times 2, its share; no term alone decided":                                                                                                                      {Weight: 9, Mean: 3, Jobs: 5, Rank: 2.5, Slack: 0.4, Share: 2},
		"its weight is 1 (average 1): 1 for its remaining work (1 of the 1 job, itself included, has at least as much left); a restart takes 1m00s, so a move to other GPUs leaves 84 % of its speed over the next 15 minutes; no term alone decided":                                             {Weight: 1, Mean: 1, Jobs: 1, Rank: 1, Share: 1, Restart: 60, Move: 0.84},
		"its weight is 1 (average 1): 1 for its remaining work (1 of the 1 job, itself included, has at least as much left); a restart repeats 11m00s of work, which counts as a loss of 1h50m, so a move to other GPUs leaves 11 % of its speed over the next 15 minutes; no term alone decided": {Weight: 1, Mean: 1, Jobs: 1, Rank: 1, Share: 1, Restart: 6630, Redone: 660, Move: 0.11},
		"its weight is 1 (average 1): 1 for its remaining work (1 of the 1 job, itself included, has at least as much left); no term alone decided; assumed: its weight NaN is not a number: taken as 1":                                                                                          {Weight: 1, Mean: 1, Jobs: 1, Rank: 1, Share: 1, Assumed: []string{"its weight NaN is not a number: taken as 1"}},
		"its weight is 1 (average 1): 1 for its remaining work (1 of the 1 job, itself included, has at least as much left); nothing changed: no other plan was at least 10 % better":                                                                                                             {Weight: 1, Mean: 1, Jobs: 1, Rank: 1, Share: 1, Decided: []policy.Term{policy.TermMargin}},
		"its weight is 1 (average 1): 1 for its remaining work (1 of the 1 job, itself included, has at least as much left); decided by the remaining work of the jobs, the cost of a move":                                                                                                       {Weight: 1, Mean: 1, Jobs: 1, Rank: 1, Share: 1, Decided: []policy.Term{policy.TermWork, policy.TermRestart}},
	} {
		if got := weighed(x); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Every term has words.
func TestSwayed(t *testing.T) {
	for _, term := range policy.AllTerms() {
		if deciding[term] == "" || term.String() == "" {
			t.Errorf("term %d has no words", term)
		}
	}
}
