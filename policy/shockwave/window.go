package shockwave

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/multimode"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type window struct {
	first   int
	rounds  int
	types   []cluster.GPUType
	free    []int // GPUs by type
	batches map[job.ID]int
	runs    map[job.ID]run // of jobs that get GPUs
	solved  *multimode.Schedule
}

type run struct {
	cluster.Configuration
	multimode.Run
}

func (w *window) over(round int) bool { return round >= w.first+w.rounds }

func (w *window) column(round int) int {
	if w == nil || round < w.first || w.over(round) {
		return -1
	}
	return round - w.first
}

func (p *Policy) serve(s *policy.Snapshot, r *grant.Round) {
	at := p.window.column(s.Round)
	for _, a := range p.active {
		if at < 0 {
			break
		}
		run := p.window.runs[a.row.ID]
		kind := s.Cluster.TypeIndex(run.GPUType)
		if run.In(at) && kind >= 0 {
			r.Give(a.index, kind, run.GPUs)
		}
	}
	p.fill(s, r)
}

// fill gives free GPUs to the jobs that gain most per GPU from a round. Source: Shockwave App. H,
// "Work-conserving".
//
// Deviation: GPUs stay idle for a round that a start would take up, because the round would gain nothing, and
// the next window can use them.
func (p *Policy) fill(s *policy.Snapshot, r *grant.Round) {
	type waiting struct {
		a    *account
		gain float64
	}
	var line []waiting
	for _, a := range p.active {
		if r.Decided(a.index) || len(a.options) == 0 {
			continue
		}
		if gain := p.gain(s, a); gain > 0 {
			line = append(line, waiting{a, gain})
		}
	}
	slices.SortStableFunc(line, func(a, b waiting) int { return cmp.Compare(b.gain, a.gain) })
	for _, w := range line {
		w.a.grantAny(r)
	}
}

func (p *Policy) gain(s *policy.Snapshot, a *account) float64 {
	o := &a.options[a.leanest]
	for i := range a.options {
		if a.options[i].Configuration == a.row.Allocation.Configuration {
			o = &a.options[i]
		}
	}
	made := o.ahead.extended(s.Length.Seconds() - a.lost(o.Configuration))
	return p.weight(s, a) * (p.utility(a, made) - p.utility(a, 0)) / float64(o.GPUs)
}

func (a *account) lost(c cluster.Configuration) float64 {
	if a.row.Allocation.Configuration == c {
		return 0
	}
	return a.start
}

func (a *account) grantAny(r *grant.Round) {
	best := -1
	for i := range a.options {
		o := &a.options[i]
		if r.Free(o.typeIndex) < o.GPUs {
			continue
		}
		if o.Configuration == a.row.Allocation.Configuration {
			best = i
			break
		}
		if best < 0 || o.ahead.time() < a.options[best].ahead.time() {
			best = i
		}
	}
	if best >= 0 {
		r.Give(a.index, a.options[best].typeIndex, a.options[best].GPUs)
	}
}
