package oxgang

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
)

// A tenanted is the policy, shown jobs of several users.
type tenanted struct {
	*Policy
	users int
	rows  map[*policy.Job]*policy.Job
}

// Plan implements policy.Policy.
func (r *tenanted) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	then := *s
	then.Jobs = nil
	for _, j := range s.Jobs {
		if r.rows[j] == nil {
			spec, row := *j.Spec, *j
			h := fnv.New32()
			_, _ = h.Write([]byte(j.ID))
			spec.User, row.Spec = fmt.Sprint("user", h.Sum32()%uint32(r.users)), &spec
			r.rows[j] = &row
		}
		then.Jobs = append(then.Jobs, r.rows[j])
	}
	return r.Policy.Plan(ctx, &then)
}

// With shares of several users plans keep the rules: with CPUs and memory, loans, rents and nodes that fail.
func TestConformance_shares(t *testing.T) {
	for name, o := range map[string]Options{"owned": DefaultOptions(), "renting": renting(0)} {
		o.Guarantee = UserGuarantee
		t.Run(name, func(t *testing.T) {
			policytest.Run(t, func() policy.Policy {
				p, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				return &tenanted{p, 3, map[*policy.Job]*policy.Job{}}
			})
		})
	}
}

// BenchmarkPlanShares plans the rounds of BenchmarkPlan with jobs of several users.
func BenchmarkPlanShares(b *testing.B) {
	for _, users := range []int{1, 4, 64} {
		for _, gpus := range []int{64, 2048, 10000} {
			b.Run(fmt.Sprintf("policy=oxgang/users=%d/gpus=%d", users, gpus), func(b *testing.B) {
				p, err := New(sharing())
				if err != nil {
					b.Fatal(err)
				}
				policytest.NewCrowd(b, gpus).Bench(b, &tenanted{p, users, map[*policy.Job]*policy.Job{}})
			})
		}
	}
}
