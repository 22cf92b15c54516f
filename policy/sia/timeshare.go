package sia

import (
	"math/bits"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// timeShare returns the penalty λ_n(i, t) for giving a job nothing: λ, and λ
// more for each round of the window τ in which it did not run; after a window
// in which it always ran, λ alone for τ. Source: Sia §3.5.6.
//
// Deviation: it is λ·(1 + (τ − s)/δ), because the printed formula lost its
// denominator (τ − s over τ, followed by "where δ is the length of each
// scheduling interval"), and because with a penalty of 0 a job whose turn is
// over gets nothing even from idle GPUs.
//
// Deviation: a job in its turn claims more than any that waits, because its
// claim would fall below theirs after one round, and the paper's bands of τ,
// "uninterrupted", would be bands of δ. Of jobs with equally much service, the
// one that waits longest is first, because the window does not tell a job that
// never ran from one whose turn is long over, and one of them might starve.
func (p *Policy) timeShare(r *row, s *policy.Snapshot) float64 {
	window := min(64, max(1, int((p.o.TimeShare+s.Length-1)/s.Length)))
	now := s.Now.UnixNano()
	served := bits.OnesCount64(r.history << (64 - window))
	switch {
	case now < r.rest:
		return p.o.Lambda
	case served == window:
		r.rest = now + int64(p.o.TimeShare)
		return p.o.Lambda
	case r.job.Holding():
		return p.o.Lambda * float64(window+2)
	}
	waits := bits.TrailingZeros64(r.history) // rounds since its last, at most 64
	return p.o.Lambda * (1 + float64(window-served) + float64(waits)/65)
}

// remember notes whether the job ran in the round that ends now: starting and
// restoring is no service.
func (r *row) remember() {
	r.history <<= 1
	if r.job.Phase == job.Running {
		r.history |= 1
	}
}

// congested reports whether the jobs that could run need more GPUs than there
// are, each at its least.
func (p *Policy) congested(rows []*row) bool {
	need := 0
	for _, r := range rows {
		if r.job.Phase != job.Profiling {
			need += minGPUs(r)
		}
	}
	return need > p.cluster.GPUs()
}
