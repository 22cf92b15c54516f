package slurm

// Differences between elapsed time and start to end, in seconds.
const (
	rounding = 60
	hour     = 3600
	aDay     = 24 * hour
	aWeek    = 7 * aDay
)

// suspend counts the time of suspensions as running time, because a suspended job keeps its GPUs (Slurm's
// gres.html). Slurm's elapsed time leaves it out.
func (r *record) suspend() {
	out := r.ran() - r.elapsed
	if r.suspended = stateOf(r.state) == "SUSPENDED"; r.elapsed == 0 || out <= rounding {
		return
	}
	if r.local && out >= hour-rounding && out <= hour+rounding && overChange(r.start, r.end) {
		return
	}
	r.elapsed, r.suspended = r.ran(), true
}

// overChange reports whether the time from start to end has a Sunday from 00:00 to 04:00, when local times
// change between summer and winter.
func overChange(start, end int64) bool {
	const firstSunday = 3 * aDay // of 1970
	sunday := end - (end-firstSunday)%aWeek
	return start <= sunday+4*hour
}
