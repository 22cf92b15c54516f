package gavel_test

import (
	"testing"

	"github.com/oxgang/oxgang/lab/rules"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/rivals/gavel"
)

func fresh(t testing.TB, change func(*gavel.Options)) policy.Policy {
	t.Helper()
	o := gavel.DefaultOptions()
	o.Public = rules.SolveGavel
	if change != nil {
		change(&o)
	}
	p, err := gavel.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	for _, objective := range gavel.Objectives() {
		for _, rules := range []gavel.Rules{gavel.Paper, gavel.PublicCode, gavel.SiaCode} {
			t.Run(string(objective)+", "+string(rules), func(t *testing.T) {
				policytest.Run(t, func() policy.Policy {
					return fresh(t, func(o *gavel.Options) { o.Objective, o.Rules = objective, rules })
				})
			})
		}
	}
	t.Run("agnostic", func(t *testing.T) {
		policytest.Run(t, func() policy.Policy { return fresh(t, func(o *gavel.Options) { o.Perf = false }) })
	})
}
