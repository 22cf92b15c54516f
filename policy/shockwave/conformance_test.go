package shockwave_test

import (
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/shockwave"
)

func fresh(t testing.TB, change func(*shockwave.Options)) policy.Policy {
	t.Helper()
	o := shockwave.DefaultOptions()
	if change != nil {
		change(&o)
	}
	p, err := shockwave.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	policytest.Run(t, func() policy.Policy { return fresh(t, nil) })
}

func TestConformance_paper(t *testing.T) {
	policytest.Run(t, func() policy.Policy {
		return fresh(t, func(o *shockwave.Options) { o.Paper, o.Window, o.Lazy = true, 5, true })
	})
}
