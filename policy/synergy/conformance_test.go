package synergy_test

import (
	"testing"

	"github.com/oxgang/oxgang/lab/rules"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/synergy"
)

func fresh(t testing.TB, change func(*synergy.Options)) policy.Policy {
	t.Helper()
	o := synergy.DefaultOptions()
	o.Public = rules.NewSynergy
	if change != nil {
		change(&o)
	}
	p, err := synergy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	for name, change := range map[string]func(*synergy.Options){
		"tune":         nil,
		"tune, demand": func(o *synergy.Options) { o.Cells = synergy.DemandOnly },
		"tune, las":    func(o *synergy.Options) { o.Order = "las" },
		"opt, ftf":     func(o *synergy.Options) { o.Mechanism, o.Order = synergy.Opt, "ftf" },
		"tune, drf":    func(o *synergy.Options) { o.Order = "drf" },
	} {
		t.Run(name, func(t *testing.T) {
			policytest.Run(t, func() policy.Policy { return fresh(t, change) })
		})
	}
}

// What keeps nothing between rounds plans from the snapshot alone.
func TestConformance_memoryless(t *testing.T) {
	for name, change := range map[string]func(*synergy.Options){
		"proportional, srtf": func(o *synergy.Options) { o.Mechanism, o.Order = synergy.Proportional, "srtf" },
		"greedy":             func(o *synergy.Options) { o.Mechanism = synergy.Greedy },
		"greedy, tetris":     func(o *synergy.Options) { o.Mechanism, o.Order = synergy.Greedy, "tetris" },
		"tune, demand, drf":  func(o *synergy.Options) { o.Cells, o.Order = synergy.DemandOnly, "drf" },
	} {
		t.Run(name, func(t *testing.T) {
			policytest.RunMemoryless(t, func() policy.Policy { return fresh(t, change) })
		})
	}
}
