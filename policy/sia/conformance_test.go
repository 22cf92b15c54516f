package sia_test

import (
	"flag"
	"testing"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/sia"
)

// TestConformance plays the variants that package registry does not: it has the
// thesis' rules with the price solver.
func TestConformance(t *testing.T) {
	for name, set := range map[string]func(*sia.Options){
		"rules=public": func(o *sia.Options) { o.PublicCode() },
		"solver=exact": func(o *sia.Options) { o.Solver = sia.Exact },
		"cells=false":  func(o *sia.Options) { o.Cells = false },
		"p=1":          func(o *sia.Options) { o.P = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			o := sia.DefaultOptions()
			set(&o)
			if o.Solver == sia.Exact && !exact.Available {
				t.Skip("built without the exact solver")
			}
			if o.Solver == sia.Exact { // a hundred times as slow
				before := flag.Lookup("rapid.checks").Value.String()
				setChecks(t, "5")
				defer setChecks(t, before)
			}
			policytest.Run(t, func() policy.Policy {
				p, err := sia.New(o)
				if err != nil {
					t.Fatal(err)
				}
				return p
			})
		})
	}
}

func setChecks(t *testing.T, n string) {
	if err := flag.Set("rapid.checks", n); err != nil {
		t.Fatal(err)
	}
}

func TestNew_explains_what_is_wrong(t *testing.T) {
	_, err := sia.New(sia.Options{Options: goodput.Options{Growth: 0.5, Solver: "magic"}})
	const want = "sia: p 0, want -10 to 10 and not 0\ngrowth 0.5, want at least 1\n" +
		"solver \"magic\", want one of price, copter, exact, lp-exact\nlambda 0, want more than 0"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
