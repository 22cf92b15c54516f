package slurm

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// A Place is a waiting job, with its priority and nice value in Slurm.
type Place struct {
	Job      uint32
	Priority int64 // as Slurm shows it: Nice is already subtracted
	Nice     int   // current nice value
	Own      int   // nice value without the scheduler
}

type change struct {
	Job  uint32
	Nice int
}

// exchange returns the changes of nice values that put the waiting jobs of a queue into the wanted order. The jobs
// exchange the priorities that they have now; the one that a job should get is its target. So each job not in wanted is
// overtaken by no more jobs than before. others are the priorities of these jobs.
//
// A job keeps its nice value if its priority already fits: below the job before it, above the target of the job after
// it, and above the same other jobs as its target. Nice values differ from the job's own by at most maxDifference.
// bounded are the jobs that do not reach their place because of this limit.
//
// Changes that lower a priority come first, so that even some of the changes delay no other job. Example: jobs a, b, c
// with priorities 7, 9, 8 and wanted order a, b, c have targets 9, 8, 7: b (nice +1) and c (nice +1) fall first, then a
// (nice -2) rises.
func exchange(wanted []Place, others []int64, maxDifference int) (changes []change, bounded []uint32) {
	targets := targets(wanted)
	others = slices.Clone(others)
	slices.Sort(others)
	above, rises := lastPriority, []change(nil)
	for i := range wanted {
		p, t := &wanted[i], targets[i]
		fits := p.Priority < above && (i+1 == len(wanted) || p.Priority > targets[i+1]) && behind(others, p.Priority) == behind(others, t)
		if fits {
			above = p.Priority
			continue
		}
		above = t
		nice := p.Priority + int64(p.Nice) - t
		within := min(max(nice, int64(p.Own-maxDifference)), int64(p.Own+maxDifference))
		if within != nice || t < 1 {
			bounded = append(bounded, p.Job)
		}
		switch c := (change{p.Job, int(within)}); {
		case within == int64(p.Nice) || t < 1:
		case c.Nice < p.Nice:
			rises = append(rises, c)
		default:
			changes = append(changes, c)
		}
	}
	return append(changes, rises...), bounded
}

// lastPriority is above every priority of Slurm, which has 32 bits.
const lastPriority int64 = 1 << 33

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

func behind(sorted []int64, priority int64) int {
	n, _ := slices.BinarySearch(sorted, priority)
	return n
}

type booter interface {
	Booted(ctx context.Context) (string, error)
}

type boot struct {
	at        string    // empty: unknown
	restarted time.Time // zero: never
}

// settled reports whether slurmctld has known its nodes for a while. A killed slurmctld may have read a state from
// before the start of a job that still runs. If that job is started again too early, Slurm drains the node
// ("Duplicate jobid"). Source: observed, Slurm 22.05.
func (b *Backend) settled(ctx context.Context) (bool, error) {
	s, ok := b.o.Slurm.(booter)
	if !ok {
		return true, nil
	}
	at, err := s.Booted(ctx)
	if err != nil {
		return false, err
	}
	if b.boot.at != "" && at != b.boot.at {
		b.boot.restarted = time.Now()
	}
	b.boot.at = at
	return b.boot.restarted.IsZero() || time.Since(b.boot.restarted) >= backoff, nil
}

func (b *Backend) unsettled(ctx context.Context, steps []step) ([]step, error) {
	starts := map[client.ID]bool{}
	for i := range steps {
		if steps[i].Verb == Release {
			starts[steps[i].Job] = true
		}
	}
	if len(starts) == 0 {
		return steps, nil
	}
	ok, err := b.settled(ctx)
	if ok || err != nil {
		return steps, err
	}
	return slices.DeleteFunc(steps, func(s step) bool { return starts[s.Job] }), nil
}
