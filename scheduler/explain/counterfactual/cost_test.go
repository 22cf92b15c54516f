package counterfactual_test

import (
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/oxgang"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
)

// crowded returns a policy that has planned a job for each seven GPUs.
func crowded(tb testing.TB, gpus int) policy.Policy {
	p, err := oxgang.New(oxgang.DefaultOptions())
	if err != nil {
		tb.Fatal(err)
	}
	policytest.NewCrowd(tb, gpus).Play(2, func(s *policy.Snapshot) *policy.Plan {
		plan, err := p.Plan(tb.Context(), s)
		if err != nil {
			tb.Fatal(err)
		}
		return plan
	})
	return p
}

// A scheduler copies its policy while it looks ahead. Beside the memory itself that takes little: some slices for each job.
func TestACopyTakesLittle(t *testing.T) {
	const jobs = 400
	p := crowded(t, 7*jobs)
	allocations := testing.AllocsPerRun(3, func() {
		if _, _, err := counterfactual.Copy(p, newOxgang); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 26*jobs {
		t.Errorf("%.0f allocations for a policy with %d jobs, want at most 26 for each", allocations, jobs)
	}
}

// What a copy of a policy costs that has planned 4,000 jobs: a look ahead makes three, beside the rounds.
func BenchmarkCopy(b *testing.B) {
	p := crowded(b, 28000)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := counterfactual.Copy(p, newOxgang); err != nil {
			b.Fatal(err)
		}
	}
}
