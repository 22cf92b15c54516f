package execute

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/model/job"
)

// A Job is what is planned for a job, and what runs of it.
type Job struct {
	ID         job.ID
	Generation int       // that is planned
	Slots      []int     // that are planned, by rank; empty: it is to hold nothing
	Cores      int       // whole cores that its workers should be bound to; less than 1: none
	Ended      bool      // for good
	NotBefore  time.Time // of the next start
	Runs       []Run     // oldest first
}

// A Run is a generation of a job that may have processes.
type Run struct {
	Generation int
	Slots      []int // nil: not known
	Cores      []int // that its workers are bound to; nil: any
	Stopping   bool  // it has notice
}

// A Stop gives a generation notice: it may end its step and write a checkpoint.
type Stop struct {
	statedir.Generation
	Reason string // for people
}

// A Start starts a generation.
type Start struct {
	statedir.Generation
	Cores []int // to bind its workers to; nil: any
}

// Steps returns what has to stop, and what can start now. A generation has to stop if it is
// not the one that is planned. A job can start when it is planned to run, nothing of it runs,
// it has waited for its back-off, and nobody is on its slots. While of some generation it is
// not known which slots it is on, nothing starts. cores are those of the machine; nil: no job
// is bound to cores. Complexity: linear in the jobs, their slots and the cores that are bound.
func Steps(jobs []Job, cores []int, now time.Time) (stops []Stop, starts []Start) {
	taken, bound, unknown := map[int]bool{}, map[int]bool{}, false
	for i := range jobs {
		j := &jobs[i]
		for _, r := range j.Runs {
			if !r.Stopping && (len(j.Slots) == 0 || r.Generation != j.Generation) {
				stops = append(stops, Stop{statedir.Generation{Job: j.ID, Number: r.Generation}, reason(j)})
			}
			unknown = unknown || r.Slots == nil
			mark(taken, r.Slots)
			mark(bound, r.Cores)
		}
	}
	if unknown {
		return stops, nil
	}
	for i := range jobs {
		if j := &jobs[i]; canStart(j, taken, now) {
			mine := bind(j.Cores, cores, bound)
			mark(bound, mine)
			starts = append(starts, Start{statedir.Generation{Job: j.ID, Number: j.Generation}, mine})
		}
	}
	return stops, starts
}

func canStart(j *Job, taken map[int]bool, now time.Time) bool {
	return len(j.Slots) > 0 && len(j.Runs) == 0 && !now.Before(j.NotBefore) && !slices.ContainsFunc(j.Slots, func(s int) bool { return taken[s] })
}

// reason says, to its workers, why a generation has to stop.
func reason(j *Job) string {
	if j.Ended {
		return "the job has ended"
	}
	return "its GPUs are given to others, or it is to have other ones"
}

// bind returns the first n cores that no workers are bound to; nil if n is less than 1 or
// there are fewer.
func bind(n int, cores []int, bound map[int]bool) []int {
	var mine []int
	for _, c := range cores {
		if !bound[c] && len(mine) < n {
			mine = append(mine, c)
		}
	}
	if len(mine) < n {
		return nil
	}
	return mine
}

func mark(set map[int]bool, members []int) {
	for _, m := range members {
		set[m] = true
	}
}
