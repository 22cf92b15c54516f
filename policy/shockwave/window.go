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

// A window is a plan for rounds ahead. It does not change.
type window struct {
	first   int // round
	rounds  int
	types   []cluster.GPUType
	free    []int          // GPUs by type
	batches map[job.ID]int // of the jobs that it is for
	runs    map[job.ID]run // of those that get something
	solved  *multimode.Schedule
}

// A run is what a job gets in a window.
type run struct {
	cluster.Configuration
	multimode.Run
}

// over reports whether a round is after the window.
func (w *window) over(round int) bool { return round >= w.first+w.rounds }

// column returns the place of a round in the window; -1 if it is not in it.
func (w *window) column(round int) int {
	if w == nil || round < w.first || w.over(round) {
		return -1
	}
	return round - w.first
}

// serve runs the jobs that the window has in this round, and then those that gain most.
func (p *Policy) serve(s *policy.Snapshot, r *grant.Round) {
	at, types := p.window.column(s.Round), s.Cluster.Types()
	for _, a := range p.active {
		if at < 0 {
			break
		}
		run := p.window.runs[a.row.ID]
		kind := slices.IndexFunc(types, func(t cluster.TypeInfo) bool { return t.Type == run.GPUType })
		if run.In(at) && kind >= 0 {
			r.Give(a.index, kind, run.GPUs)
		}
	}
	p.fill(s, r)
}

// fill gives GPUs that are left to the jobs that gain most per GPU from a round, if they gain
// anything. Source: Shockwave App. H, "Work-conserving".
//
// Deviation: GPUs stay idle for a round that a start on them would take up, because the round
// would gain nothing, and the next window can use them.
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

// gain returns what a round is worth to a job where it is, or else where it needs the
// least GPU time, for each GPU.
func (p *Policy) gain(s *policy.Snapshot, a *account) float64 {
	o := &a.options[a.leanest]
	for i := range a.options {
		if a.options[i].Configuration == a.row.Allocation.Configuration {
			o = &a.options[i]
		}
	}
	made := o.ahead.whole(s.Length.Seconds() - a.lost(o.Configuration))
	return p.weight(s, a) * (p.utility(a, made) - p.utility(a, 0)) / float64(o.GPUs)
}

// lost returns the seconds that a job loses by starting on a configuration.
func (a *account) lost(c cluster.Configuration) float64 {
	if a.row.Allocation.Configuration == c {
		return 0
	}
	return a.start
}

// grantAny gives the job what it holds, or the fastest of its options that there is room
// for.
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
