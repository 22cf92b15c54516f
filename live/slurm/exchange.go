package slurm

import (
	"cmp"
	"slices"
)

// A Place is a waiting job and where Slurm has it.
type Place struct {
	Job      uint32
	Priority int64 // that Slurm shows: less Nice
	Nice     int   // in force
	Own      int   // nice value that the job has without the scheduler
}

// A Change is a nice value that a job is to get.
type Change struct {
	Job  uint32
	Nice int
}

// Exchange returns the changes after which the jobs of one queue have the priorities of its places in
// the wanted order, the first first. others are the priorities of the jobs that wait in the queue and
// take no part. A job that is between the right ones keeps its nice value. No nice value is further
// than most from the job's own. bounded are the jobs of which that keeps the place from being the
// wanted one. Jobs that fall are the first among the changes: where only some of them are made, jobs that
// take no part are passed by no more jobs. Complexity: O((n + m) log (n + m)) for n places and m others.
func Exchange(wanted []Place, others []int64, most int) (changes []Change, bounded []uint32) {
	targets := targets(wanted)
	others = slices.Clone(others)
	slices.Sort(others)
	above, rises := lastPriority, []Change(nil)
	for i := range wanted {
		p, t := &wanted[i], targets[i]
		fits := p.Priority < above && (i+1 == len(wanted) || p.Priority > targets[i+1]) && behind(others, p.Priority) == behind(others, t)
		if fits {
			above = p.Priority
			continue
		}
		above = t
		nice := p.Priority + int64(p.Nice) - t
		within := min(max(nice, int64(p.Own-most)), int64(p.Own+most))
		if within != nice || t < 1 {
			bounded = append(bounded, p.Job)
		}
		switch c := (Change{p.Job, int(within)}); {
		case within == int64(p.Nice) || t < 1:
		case c.Nice < p.Nice:
			rises = append(rises, c)
		default:
			changes = append(changes, c)
		}
	}
	return append(changes, rises...), bounded
}

// lastPriority is above every priority of Slurm, which are of 32 bits.
const lastPriority int64 = 1 << 33

// targets returns the priorities of the places, highest first, none of them twice.
func targets(places []Place) []int64 {
	all := make([]int64, len(places))
	for i := range places {
		all[i] = places[i].Priority
	}
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(b, a) })
	for i := 1; i < len(all); i++ {
		all[i] = min(all[i], all[i-1]-1)
	}
	return all
}

// behind returns how many of some priorities, in ascending order, are below one.
func behind(sorted []int64, priority int64) int {
	n, _ := slices.BinarySearch(sorted, priority)
	return n
}
