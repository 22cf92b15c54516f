package oxgang

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
)

// A ranked is the policy, shown jobs of three priorities.
type ranked struct {
	*Policy
	rows map[*policy.Job]*policy.Job
}

// Plan implements policy.Policy.
func (r *ranked) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	then := *s
	then.Jobs = nil
	for _, j := range s.Jobs {
		if r.rows[j] == nil {
			spec, row := *j.Spec, *j
			h := fnv.New32()
			_, _ = h.Write([]byte(j.ID))
			spec.Priority, row.Spec = float64(h.Sum32()%3), &spec
			r.rows[j] = &row
		}
		then.Jobs = append(then.Jobs, r.rows[j])
	}
	return r.Policy.Plan(ctx, &then)
}

// Where priorities differ, plans keep the rules as ever: with CPUs and memory, loans, rents and nodes that fail.
func TestConformance_priorities(t *testing.T) {
	for name, o := range map[string]Options{"owned": DefaultOptions(), "renting": renting(0)} {
		t.Run(name, func(t *testing.T) {
			policytest.Run(t, func() policy.Policy {
				p, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				return &ranked{p, map[*policy.Job]*policy.Job{}}
			})
		})
	}
}

// BenchmarkPlanLevels plans the rounds of BenchmarkPlan with jobs of three priorities.
func BenchmarkPlanLevels(b *testing.B) {
	for _, gpus := range []int{64, 2048, 10000} {
		b.Run(fmt.Sprintf("policy=oxgang/gpus=%d", gpus), func(b *testing.B) {
			p, err := New(DefaultOptions())
			if err != nil {
				b.Fatal(err)
			}
			policytest.NewCrowd(b, gpus).Bench(b, &ranked{p, map[*policy.Job]*policy.Job{}})
		})
	}
}
