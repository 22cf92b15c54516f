package synergy_test

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/synergy"
)

// BenchmarkRound is a round in which one job in a hundred is another than in the
// last.
func BenchmarkRound(b *testing.B) {
	for _, size := range []struct {
		nodes int
		multi bool
	}{{16, false}, {1250, true}} {
		for _, mechanism := range []synergy.Mechanism{synergy.Proportional, synergy.Tune} {
			c, of := servers(b, size.nodes, 24), split{20, 70, 10}
			b.Run(fmt.Sprintf("mechanism=%s/gpus=%d", mechanism, c.GPUs()), func(b *testing.B) {
				p := fresh(b, func(o *synergy.Options) { o.Mechanism = mechanism })
				s, r := draw(b, 1, c, of, size.multi), rng.Stream(2, "bench")
				plan := mustPlan(b, p, s)
				gap := 0.0
				for b.Loop() {
					b.StopTimer()
					s = follow(s, plan)
					replace(b, s, r, of, len(s.Jobs)/100)
					b.StartTimer()
					plan = mustPlan(b, p, s)
					gap = max(gap, plan.Stats.Gap)
				}
				b.ReportMetric(gap, "gap")
				b.ReportMetric(float64(len(s.Jobs)), "jobs")
			})
		}
	}
}

func mustPlan(t testing.TB, p policy.Policy, s *policy.Snapshot) *policy.Plan {
	t.Helper()
	plan, err := p.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
