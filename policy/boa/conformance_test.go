package boa_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/boa"
	"github.com/oxgang/oxgang/policy/policytest"
)

func fresh(t *testing.T, change func(*boa.Options)) func() policy.Policy {
	return func() policy.Policy {
		o := boa.DefaultOptions()
		change(&o)
		p, err := boa.New(o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

var variants = map[string]func(*boa.Options){
	"no budget":   func(*boa.Options) {},
	"GPU-hours":   func(o *boa.Options) { o.Budget = 6 },
	"little":      func(o *boa.Options) { o.Budget = 0.01 },
	"no feedback": func(o *boa.Options) { o.Budget, o.Horizon = 10, 0 },
	"published":   func(o *boa.Options) { o.Budget, o.Method, o.Recompute = 10, boa.Published, 0 },
	"one table":   func(o *boa.Options) { o.Budget, o.Method, o.Money = 10, boa.Single, true },
}

func TestConformance(t *testing.T) {
	for name, change := range variants {
		t.Run(name, func(t *testing.T) { policytest.Run(t, fresh(t, change)) })
	}
}

// schooled shows a policy jobs of three classes, of which one is not known and another
// runs nowhere.
type schooled struct{ policy.Policy }

var known = []*perf.ClassStats{
	{Class: "a", Rate: 1e-3, Restart: time.Minute, Sizes: []float64{1e3, 1e5, 1e6}, Speeds: perf.EpochSpeed(func(epoch int, c cluster.Configuration) float64 {
		n := float64(c.GPUs)
		return 100 * n / (1 + n/float64(2+epoch))
	})},
	{Class: "c", Rate: 1e-3, Sizes: []float64{1}, Speeds: perf.EpochSpeed(func(int, cluster.Configuration) float64 { return 0 })},
}

func (s schooled) Remember(m *memory.Codec) { m.Fields(s.Policy) }

func (s schooled) Plan(ctx context.Context, snap *policy.Snapshot) (*policy.Plan, error) {
	c := *snap
	c.Classes = known
	c.Jobs = slices.Clone(snap.Jobs)
	for i, j := range c.Jobs {
		row, spec := *j, *j.Spec
		spec.Class = []job.Class{"a", "b", "c"}[len(j.ID)%2+int(j.ID[len(j.ID)-1])%2]
		row.Spec, row.Epoch = &spec, int(j.Progress)%4
		c.Jobs[i] = &row
	}
	return s.Policy.Plan(ctx, &c)
}

func TestConformance_with_classes(t *testing.T) {
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			policytest.Run(t, func() policy.Policy { return schooled{fresh(t, change)()} })
		})
	}
}
