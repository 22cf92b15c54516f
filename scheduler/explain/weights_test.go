package explain

import (
	"testing"

	"github.com/oxgang/oxgang/policy"
)

func TestWeighed(t *testing.T) {
	for want, x := range map[string]policy.Terms{
		"it counts 12, the mean is 6.5: of the 12 jobs weighed 12 have no less work left, itself among them; none of these decided alone":                                                                                                                          {Weight: 12, Mean: 6.5, Jobs: 12, Rank: 12, Rho: 0.8, Share: 1},
		"it counts 1.96, the mean is 3: of the 5 jobs weighed 1 has no less work left, itself among them; times 1.96 because it is heading for 1.4 times its fair time; none of these decided alone":                                                               {Weight: 1.96, Mean: 3, Jobs: 5, Rank: 1, Rho: 1.4, Share: 1},
		"it counts 1, the mean is 1: of the 2 jobs weighed 1 has no less work left, itself among them; that it runs at all counts 8 times more, because the end of all jobs waits for it; none of these decided alone":                                             {Weight: 1, Mean: 1, Jobs: 2, Rank: 1, Last: 8, Share: 1},
		"it counts 9, the mean is 3: 2.5 for the work it has left, among the 5 jobs weighed; 2 more because the end of all jobs depends on it; times 2, its share; none of these decided alone":                                                                    {Weight: 9, Mean: 3, Jobs: 5, Rank: 2.5, Slack: 0.4, Share: 2},
		"it counts 1, the mean is 1: of the 1 job weighed 1 has no less work left, itself among them; a move costs it 1m00s, and leaves 84 % of its speed over the next 15 minutes; none of these decided alone":                                                   {Weight: 1, Mean: 1, Jobs: 1, Rank: 1, Share: 1, Restart: 60, Move: 0.84},
		"it counts 1, the mean is 1: of the 1 job weighed 1 has no less work left, itself among them; a move would have it do 11m00s of work again, counts as a loss of 1h50m, and leaves 11 % of its speed over the next 15 minutes; none of these decided alone": {Weight: 1, Mean: 1, Jobs: 1, Rank: 1, Share: 1, Restart: 6630, Redone: 660, Move: 0.11},
		"it counts 1, the mean is 1: of the 1 job weighed 1 has no less work left, itself among them; none of these decided alone; assumed: its weight NaN is not a number: taken as 1":                                                                            {Weight: 1, Mean: 1, Jobs: 1, Rank: 1, Share: 1, Assumed: []string{"its weight NaN is not a number: taken as 1"}},
		"it counts 1, the mean is 1: of the 1 job weighed 1 has no less work left, itself among them; decided by the work that each has left, and by what a move costs it":                                                                                         {Weight: 1, Mean: 1, Jobs: 1, Rank: 1, Share: 1, Decided: []policy.Term{policy.TermWork, policy.TermRestart}},
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
