package lyra_test

import (
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra"
	"github.com/oxgang/oxgang/policy/policytest"
)

// fresh returns a policy with some of the defaults changed.
func fresh(t testing.TB, change func(*lyra.Options)) policy.Policy {
	t.Helper()
	o := lyra.DefaultOptions()
	if change != nil {
		change(&o)
	}
	p, err := lyra.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	policytest.Run(t, func() policy.Policy { return fresh(t, nil) })
}
