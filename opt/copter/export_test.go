package copter

// Trace makes s tell what it does.
func (s *Solver) Trace(f func(string, ...any)) { s.trace = f }
