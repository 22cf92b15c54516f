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
	limits                                 limits
}

func (p *Program) kindOf(j *policy.Job) kind {
	s, l := j.Spec, j.Limits
	return kind{
		s.Goal, s.Latency, s.Adaptivity, s.GPUs, s.BatchSize, s.MinGPUs, s.MaxGPUs, s.MicroBatches, s.WorkerGPUs, s.MixedSpeed, s.Timed,
		s.NonPreemptive, s.Reservation, l.Init, l.Max, l.LocalMin, p.limits(j),
	}
}

const mostKinds = 16

// duplicates divides rows into rows to evaluate, and rows of waiting jobs whose goodputs equal the goodputs of an earlier
// row.
func (p *Program) duplicates(stale []staleRow) (first []staleRow, later []duplicateRow) {
	if len(stale) < 2 {
		return stale, nil
	}
	seen := map[kind][]*Row{}
	for _, t := range stale {
		j := t.row.job
		if !t.model || j.Perf == nil || j.Holding() || j.Phase == job.Profiling {
			first = append(first, t)
			continue
		}
		k := p.kindOf(j)
		of := seen[k]
		if i := slices.IndexFunc(of, func(r *Row) bool { return duplicate(r.job, j) }); i >= 0 {
			later = append(later, duplicateRow{t, of[i]})
			continue
		}
		if first = append(first, t); len(of) < mostKinds {
			seen[k] = append(of, t.row)
		}
	}
	return first, later
}

func duplicate(a, b *policy.Job) bool {
	return a.Sensitivity == b.Sensitivity && slices.Equal(a.GPUTypes, b.GPUTypes) && equal(a.GPUsPerReplica, b.GPUsPerReplica) &&
		equal(a.Equivalents, b.Equivalents) && equal(a.Limits.LocalMax, b.Limits.LocalMax) && perf.Same(a.Perf, b.Perf)
}

// equal reports whether two maps are equal. Nil and empty differ: only a nil GPUsPerReplica makes all types eligible.
func equal(a, b map[cluster.GPUType]int) bool { return (a == nil) == (b == nil) && maps.Equal(a, b) }

func (p *Program) copyRow(t duplicateRow) {
	r, of := t.row, t.of
	if t.other {
		p.lay(r)
	}
	r.forget()
	r.limits, r.item.stale = p.limits(r.job), true
	copy(r.allowed, of.allowed)
	copy(r.goodput, of.goodput)
	copy(r.plain, of.plain)
	for i, cells := range of.cells {
		r.cells[i] = cells // immutable
		if len(cells) == 1 && &cells[0] == &of.plain[i] {
			r.cells[i] = r.plain[i : i+1]
		}
	}
	r.held, r.unit, r.fewest, r.lean, r.fast = of.held, of.unit, of.fewest, 0, -1
}
