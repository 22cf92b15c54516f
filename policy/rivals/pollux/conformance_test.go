package pollux_test

import (
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/rivals/pollux"
)

func fresh(t testing.TB, change func(*pollux.Options)) *pollux.Policy {
	t.Helper()
	o := pollux.DefaultOptions()
	if change != nil {
		change(&o)
	}
	p, err := pollux.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	policytest.Run(t, func() policy.Policy {
		return fresh(t, func(o *pollux.Options) { o.Population, o.Generations = 8, 4 })
	})
}

func TestConformanceOfAutoscaler(t *testing.T) {
	policytest.Run(t, func() policy.Policy {
		return autoscaler(t, func(o *pollux.AutoscaleOptions) { o.Population, o.Generations = 8, 4 })
	})
}
