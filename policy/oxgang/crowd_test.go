package oxgang_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/oxgang"
	"github.com/oxgang/oxgang/policy/policytest"
)

// Jobs are weighed side by side where there are many: on any number of processors the plans, and what they say, are the same.
func TestPlan_is_the_same_on_any_number_of_processors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var both [2]*oxgang.Policy
	for i := range both {
		var err error
		if both[i], err = oxgang.New(oxgang.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
	}
	policytest.NewCrowd(t, 7000).Play(6, func(s *policy.Snapshot) (plan *policy.Plan) {
		var said [2]string
		for i, p := range both {
			runtime.GOMAXPROCS(1 + 3*i)
			var err error
			if plan, err = p.Plan(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			said[i] = fmt.Sprintf("%+v", *plan)
			for _, j := range s.Jobs {
				x, _ := p.Weighed(j.ID)
				said[i] += fmt.Sprintf("\n%s %+v", j.ID, x)
			}
		}
		if said[0] != said[1] {
			t.Fatalf("round %d: one processor plans\n%.2000s\nfour plan\n%.2000s", s.Round, said[0], said[1])
		}
		return plan
	})
}
