package scheduler

// Jobs returns the number of jobs that have not ended.
func (s *Scheduler) Jobs() int { s.sweep(); return len(s.active) }
