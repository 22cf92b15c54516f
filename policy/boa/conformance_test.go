package boa_test

import (
	"testing"

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

func TestConformance(t *testing.T) {
	for name, change := range map[string]func(*boa.Options){
		"no budget":   func(*boa.Options) {},
		"GPU-hours":   func(o *boa.Options) { o.Budget = 6 },
		"little":      func(o *boa.Options) { o.Budget = 0.01 },
		"no feedback": func(o *boa.Options) { o.Budget, o.Horizon = 10, 0 },
	} {
		t.Run(name, func(t *testing.T) { policytest.Run(t, fresh(t, change)) })
	}
}
