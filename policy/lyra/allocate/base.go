package allocate

import (
	"cmp"
	"slices"
	"time"
)

// base is phase one: running jobs keep their base demand; those that wait get theirs, the
// shortest first, if it fits, and what does not is passed over. It takes what it gives from c.
// Source: Lyra §5.2, "we schedule job j* with the smallest running time".
func base(jobs []Job, c *Capacity, patience time.Duration) []Grant {
	grants := make([]Grant, len(jobs))
	var held [sides]bool
	for _, i := range order(jobs, patience) {
		j := &jobs[i]
		if j.Workers > 0 {
			grants[i] = Grant{Workers: j.Min, On: j.On, Why: Runs}
			continue
		}
		grants[i] = c.admit(j, &held)
		if grants[i].Workers == 0 && overdue(j, patience) {
			c.hold(j, &held)
		}
	}
	return grants
}

// overdue says that j has waited too long.
func overdue(j *Job, patience time.Duration) bool { return patience > 0 && j.Waited >= patience }

// order returns the jobs' indices: those that have waited too long, the longest first, then
// the others by their minimum running time. Equals stay in the order given.
func order(jobs []Job, patience time.Duration) []int {
	turn := make([]int, len(jobs))
	for i := range turn {
		turn[i] = i
	}
	slices.SortStableFunc(turn, func(a, b int) int {
		x, y := &jobs[a], &jobs[b]
		late, other := overdue(x, patience), overdue(y, patience)
		switch {
		case late && other:
			return cmp.Compare(y.Waited, x.Waited)
		case late:
			return -1
		case other:
			return 1
		}
		return cmp.Compare(x.Shortest(), y.Shortest())
	})
	return turn
}

// admit gives j its base demand on the first side it prefers that has room and is not held.
func (c *Capacity) admit(j *Job, held *[sides]bool) Grant {
	why := NoRoom
	for _, s := range j.prefers() {
		need := c[s].need(j, j.Min)
		switch {
		case need > c[s].Free:
		case held[s]:
			why = Held
		default:
			c[s].Free -= need
			return Grant{Workers: j.Min, On: s, Why: Runs}
		}
	}
	return Grant{Why: why}
}

// hold keeps the first side that j prefers and that could ever have room for it from jobs
// that come after j.
func (c *Capacity) hold(j *Job, held *[sides]bool) {
	for _, s := range j.prefers() {
		if c[s].need(j, j.Min) <= c[s].Total {
			held[s] = true
			return
		}
	}
}
