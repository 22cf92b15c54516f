package queue

import (
	"math"

	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type line struct {
	*grant.Round
	largest int
	moves   bool         // running jobs may move to a faster type if that pays for the restart
	head    *reservation // of the first job that does not fit; nil: all fit

	packed   *packing  // nil: by the GPUs of types
	profiles []profile // of free GPUs by type, once a job does not fit
	reserved int
}

func (q *Policy) newLine(s *policy.Snapshot) *line {
	r := &line{Round: grant.NewGated(s, q.o.Gate, q.o.Preempt), moves: q.o.Moves}
	for i := range r.Types {
		r.largest = max(r.largest, r.Types[i].GPUs)
	}
	return r
}

func (r *line) grant(i int) bool {
	j := r.Snapshot.Jobs[i]
	best, widest, bestSpeed, held := -1, -1, 0.0, false
	for t := range r.Types {
		if !grant.Usable(j, &r.Types[t]) {
			continue
		}
		if widest < 0 || r.Free(t) > r.Free(widest) {
			widest = t
		}
		if r.Free(t) < grant.Size(j, r.Types[t].Type) {
			continue
		}
		if may, later := r.startable(i, t); !may {
			held = held || later
			continue
		}
		v := grant.Goodput(j, grant.Gang(j, &r.Types[t]))
		if j.Holding() && j.Allocation.GPUType == r.Types[t].Type {
			if !r.moves {
				best = t // a move would cost a restart
				break
			}
			v *= r.restartGain(j, v)
		}
		if best < 0 || v > bestSpeed || v == bestSpeed && r.Free(t) > r.Free(best) {
			best, bestSpeed = t, v
		}
	}
	switch {
	case best < 0 && held:
		r.holdBack(i)
		return false
	case best < 0:
		least := 0
		if widest >= 0 {
			least = grant.Size(j, r.Types[widest].Type)
		}
		r.Lacks(i, widest, least)
		return false
	}
	return r.Assign(i, best, grant.Gang(j, &r.Types[best]))
}

// startable reports whether job i may start on type t, which has enough GPUs. later: only a reservation stops it.
func (r *line) startable(i, t int) (may, later bool) {
	if r.packed != nil {
		at, held := r.fit(i, t)
		return at != nil, held
	}
	may = r.allows(i, t, grant.Size(r.Snapshot.Jobs[i], r.Types[t].Type))
	return may, !may
}

// restartGain returns the factor by which another type must be faster than job j's type, with
// goodput v, for a move to pay: it costs j's restart and the restart of the job that makes room.
func (r *line) restartGain(j *policy.Job, v float64) float64 {
	b := r.Snapshot.Basis(j)
	left, from := b.Time(v)
	if after := left - 2*j.RestartOverhead; from == perf.FromStated && after > 0 {
		return float64(left) / float64(after)
	}
	return math.Inf(1)
}
