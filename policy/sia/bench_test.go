package sia_test

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/sia"
)

func newPolicy(b *testing.B) policy.Policy {
	b.Helper()
	p, err := sia.New(sia.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkPlan plans rounds on clusters of growing size.
func BenchmarkPlan(b *testing.B) {
	for _, gpus := range []int{64, 2048, 10000, 25000} {
		b.Run(fmt.Sprintf("policy=sia/gpus=%d", gpus), func(b *testing.B) {
			policytest.NewCrowd(b, gpus).Bench(b, newPolicy(b))
		})
	}
}

// BenchmarkPlanCells plans rounds in which CPUs and memory count: nine resources.
func BenchmarkPlanCells(b *testing.B) {
	for _, gpus := range []int{64, 512, 2048} {
		b.Run(fmt.Sprintf("policy=sia/gpus=%d", gpus), func(b *testing.B) {
			w := policytest.NewCrowd(b, gpus)
			w.Feed(b)
			w.Bench(b, newPolicy(b))
		})
	}
}
