package local

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/model/job"
)

type jobState struct {
	ID         job.ID
	Generation int        // in the plan
	Slots      []int      // by rank
	Cores      int        // to bind the workers to; less than 1: none
	Ended      bool       // for good
	NotBefore  time.Time  // earliest next start
	Runs       []runState // oldest first
}

type runState struct {
	Generation int
	Slots      []int // nil: unknown
	Cores      []int // nil: not bound
	Stopping   bool  // notice was sent
}

type stopStep struct {
	statedir.Generation
	Reason string // for the user
}

type startStep struct {
	statedir.Generation
	Cores []int // nil: not bound
}

// nextSteps returns the generations to stop, and the generations that can start now. It stops every generation
// that is not in the plan. It starts a planned job when no earlier generation of it runs, its backoff is over, and
// its slots are free. Nothing starts while the slots of a generation are unknown. cores are the machine's; nil:
// bind no job.
//
// A slot is free once no process uses it, so two jobs never share one. The steps end: each either sends notice,
// once per generation, after which the supervisor kills it at the deadline, or starts a generation.
func nextSteps(jobs []jobState, cores []int, now time.Time) (stops []stopStep, starts []startStep) {
	taken, bound, unknown := map[int]bool{}, map[int]bool{}, false
	for i := range jobs {
		j := &jobs[i]
		for _, r := range j.Runs {
			if !r.Stopping && (len(j.Slots) == 0 || r.Generation != j.Generation) {
				stops = append(stops, stopStep{statedir.Generation{Job: j.ID, Number: r.Generation}, j.stopReason()})
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
		if j := &jobs[i]; j.canStart(taken, now) {
			mine := bind(j.Cores, cores, bound)
			mark(bound, mine)
			starts = append(starts, startStep{statedir.Generation{Job: j.ID, Number: j.Generation}, mine})
		}
	}
	return stops, starts
}

func (j *jobState) canStart(taken map[int]bool, now time.Time) bool {
	return len(j.Slots) > 0 && len(j.Runs) == 0 && !now.Before(j.NotBefore) && !slices.ContainsFunc(j.Slots, func(s int) bool { return taken[s] })
}

func (j *jobState) stopReason() string {
	if j.Ended {
		return "the job has ended"
	}
	return "the job is preempted, or moves to other GPUs"
}

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
