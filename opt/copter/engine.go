package copter

import (
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/lp"
)

func init() { engine.Register("copter", engine.Relaxed(continual), nil) }

func continual() (lp.Solver, error) {
	o := DefaultOptions()
	o.Polish = true
	return New(o)
}
