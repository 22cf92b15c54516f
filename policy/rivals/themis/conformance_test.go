package themis_test

import (
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/rivals/themis"
)

func fresh(t testing.TB, change func(*themis.Options)) policy.Policy {
	t.Helper()
	o := themis.DefaultOptions()
	if change != nil {
		change(&o)
	}
	p, err := themis.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	for name, change := range map[string]func(*themis.Options){
		"default":  nil,
		"everyone": func(o *themis.Options) { o.Filter = 1 },
		"adaptive": func(o *themis.Options) { o.Adaptive = true },
		"free":     func(o *themis.Options) { o.Filter, o.Payments = 0.5, false },
	} {
		t.Run(name, func(t *testing.T) {
			policytest.RunMemoryless(t, func() policy.Policy { return fresh(t, change) })
		})
	}
}
