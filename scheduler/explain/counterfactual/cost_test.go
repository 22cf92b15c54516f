package counterfactual_test

import (
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/oxgang"
	"github.com/oxgang/oxgang/policy/placement/bestfit"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
)

// What a copy of a policy costs that has planned 4,000 jobs: a look ahead makes three, beside the rounds.
func BenchmarkCopy(b *testing.B) {
	p, err := oxgang.New(oxgang.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	policytest.NewCrowd(b, 28000).Play(2, func(s *policy.Snapshot) *policy.Plan {
		plan, err := p.Plan(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		return plan
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := counterfactual.Copy(p, bestfit.New()); err != nil {
			b.Fatal(err)
		}
	}
}
