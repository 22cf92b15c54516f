package exact

import (
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/lp"
)

func init() {
	var missing error
	if !Available {
		missing = ErrUnavailable
	}
	engine.Register("exact", engine.Integral(Solve), missing)
	engine.Register("lp-exact", engine.Relaxed(func() (lp.Solver, error) { return New(DefaultOptions()) }), missing)
	if Available {
		engine.RegisterExact(engine.Exact{Knapsack: Solve, Vertex: vertex})
	}
}

func vertex() (lp.Solver, error) {
	o := DefaultOptions()
	o.Method = Simplex
	return New(o)
}
