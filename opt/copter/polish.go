package copter

import "github.com/oxgang/oxgang/opt/lp"

func (s *Solver) polish(p *lp.Problem, x []float64) {}
