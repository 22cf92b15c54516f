package goodput

import (
	"maps"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

type duplicateRow struct {
	staleRow
	of *Row
}

type kind struct {
	goal                                   job.Goal
	latency                                time.Duration
	adaptivity                             job.Adaptivity
	gpus, batch, min, most, passes, worker int
	mixed                                  float64
	timed, firm                            bool
	reserved                               cluster.Configuration
	batchInit, batchMax, localMin          int
}

func kindOf(j *policy.Job) kind {
	s, l := j.Spec, j.Limits
	return kind{
		s.Goal, s.Latency, s.Adaptivity, s.GPUs, s.BatchSize, s.MinGPUs, s.MaxGPUs, s.MicroBatches, s.WorkerGPUs, s.MixedSpeed, s.Timed,
		s.NonPreemptive, s.Reservation, l.Init, l.Max, l.LocalMin,
	}
}

const mostKinds = 16

// An Alike finds, for a job, an earlier job with the same goodput on every configuration, without computing any
// goodput. It stores a value of type T for each job. Jobs also match only if their values of type Also are equal. The
// zero value is ready to use.
type Alike[Also comparable, T any] struct {
	seen map[alikeKey[Also]][]alikeJob[T]
}

type alikeKey[Also comparable] struct {
	kind
	also Also
}

type alikeJob[T any] struct {
	job   *policy.Job
	value T
}

// First returns the value of an earlier job that matches j. If there is none, it stores j with value, and ok is false.
// Jobs without models match no other.
func (a *Alike[Also, T]) First(j *policy.Job, also Also, value T) (first T, ok bool) {
	k := alikeKey[Also]{kindOf(j), also}
	of := a.seen[k]
	if i := slices.IndexFunc(of, func(e alikeJob[T]) bool { return duplicate(e.job, j) }); i >= 0 {
		return of[i].value, true
	}
	if a.seen == nil {
		a.seen = map[alikeKey[Also]][]alikeJob[T]{}
	}
	if len(of) < mostKinds {
		a.seen[k] = append(of, alikeJob[T]{j, value})
	}
	return first, false
}

func (p *Program) duplicates(stale []staleRow) (first []staleRow, later []duplicateRow) {
	if len(stale) < 2 {
		return stale, nil
	}
	var alike Alike[limits, *Row]
	for _, t := range stale {
		j := t.row.job
		if !t.model || j.Perf == nil || j.Holding() || j.Phase == job.Profiling {
			first = append(first, t)
			continue
		}
		if of, ok := alike.First(j, p.limits(j), t.row); ok {
			later = append(later, duplicateRow{t, of})
			continue
		}
		first = append(first, t)
	}
	return first, later
}

func duplicate(a, b *policy.Job) bool {
	return a.Sensitivity == b.Sensitivity && slices.Equal(a.GPUTypes, b.GPUTypes) && slices.EqualFunc(a.Parts, b.Parts, samePart) && equal(a.GPUsPerReplica, b.GPUsPerReplica) &&
		equal(a.Equivalents, b.Equivalents) && equal(a.Limits.LocalMax, b.Limits.LocalMax) && perf.Same(a.Perf, b.Perf)
}

func samePart(a, b job.Part) bool { return a.GPUs == b.GPUs && slices.Equal(a.Nodes, b.Nodes) }

// equal reports whether two maps are equal. Nil and empty differ: only a nil GPUsPerReplica makes all types eligible.
func equal(a, b map[cluster.GPUType]int) bool { return (a == nil) == (b == nil) && maps.Equal(a, b) }

func (p *Program) copyRow(t duplicateRow) {
	r, of := t.row, t.of
	r.follow(of)
	r.laid, r.peak = of.laid, 0
	r.limits, r.item.stale = p.limits(r.job), true
	r.held, r.unit, r.fewest, r.like = of.held, of.unit, of.fewest, of
}

// Peaks computes Peak of all rows, once for rows with equal goodputs.
func (p *Program) Peaks(rows []*Row) {
	Each(len(rows), func(i int) {
		if rows[i].like == nil {
			p.Peak(rows[i])
		}
	})
	for _, r := range rows {
		if of := r.like; of != nil {
			r.follow(of)
			r.peak, r.like = of.peak, nil
		}
	}
}
