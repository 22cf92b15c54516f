package exact_test

import (
	"testing"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/lp/lptest"
)

func TestConformance(t *testing.T) {
	for name, change := range map[string]func(*exact.Options){
		"choose":           nil,
		"simplex":          func(o *exact.Options) { o.Method = exact.Simplex },
		"without_presolve": func(o *exact.Options) { o.Method, o.NoPresolve = exact.Simplex, true },
		"ipm":              func(o *exact.Options) { o.Method = exact.InteriorPoint },
		"two_threads":      func(o *exact.Options) { o.Threads = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && (name == "two_threads" || name == "ipm") {
				t.Skip("long")
			}
			s := solver(t, change) // it keeps nothing: each use is a new one
			lptest.Run(t, func() lp.Solver { return s }, lptest.Exact)
		})
	}
}
