package shards

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/lab/casestudy"
)

const cores = 64

// A Round has the result of one method in one round.
type Round struct {
	Round      int
	zipf       float64
	MeanLoad   float64 // of a server; the hottest shard has load 1
	Movements  int     // replicas copied
	replicas   int     // afterwards
	imbalance  float64 // (most − least)/mean load
	overMemory float64 // fraction by which the fullest server exceeds its memory
	CPU        time.Duration
	parallel   time.Duration // CPU, if the parts of pop:K run on 64 cores
	stats      stats
}

// A Run has the results of one method on one workload.
type Run struct {
	Method string
	Spec   Spec
	Rounds []Round
}

// A Trial runs several methods on one workload.
type Trial struct {
	Spec   Spec
	Rounds int
	Clock  casestudy.Clock // nil: times are 0
	Report func(r *Round)  // may be nil
}

// Simulate runs a balancer on the workload. Each round starts from the assignment of the round before. If the balancer
// fails or leaves a shard unserved, Simulate returns the earlier rounds and the error.
func (t *Trial) Simulate(ctx context.Context, b Balancer) ([]Round, error) {
	w, err := newWorkload(t.Spec)
	if err != nil {
		return nil, err
	}
	now := w.Start()
	var all []Round
	for k := range t.Rounds {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		in := w.Next()
		in.now = now
		before := t.Clock.Read()
		r, err := b.Balance(ctx, in)
		took := t.Clock.Read() - before
		if err != nil {
			return all, fmt.Errorf("round %d: %w", k, err)
		}
		if miss := r.assignment.Unserved(); miss > 1e-9 {
			return all, fmt.Errorf("round %d: the parts of a shard differ from 1 by %v", k, miss)
		}
		all = append(all, measure(k, w.Zipf(), in, r, took))
		if t.Report != nil {
			t.Report(&all[k])
		}
		now = r.assignment
	}
	return all, nil
}

func measure(k int, zipf float64, in *Instance, r *Result, took time.Duration) Round {
	parallel := took
	if parts := r.stats.Parts; len(parts) > 0 {
		parallel += casestudy.Makespan(parts, cores) - casestudy.Makespan(parts, 1)
	}
	return Round{
		Round: k, zipf: zipf, MeanLoad: in.mean(),
		Movements: in.now.Movements(r.assignment), replicas: r.assignment.Replicas(),
		imbalance: in.imbalance(r.assignment), overMemory: in.overMemory(r.assignment),
		CPU: took, parallel: parallel, stats: r.stats,
	}
}

// slack is the tolerance of Summary.Within: solvers keep load limits to within 1e-4 of 1 + the limit.
const slack = 5e-4

// A Summary has means and extremes over the rounds of a Run.
type Summary struct {
	rounds                   int // averaged
	Movements, replicas      float64
	Imbalance, mostImbalance float64
	within                   float64 // share of rounds with an imbalance of at most 2ε
	overMemory               float64 // largest
	CPU, CPU99, Parallel     time.Duration
	Whole                    float64 // share of relaxed values that are 0 or 1; NaN if none
	dropped, evicted         float64 // replicas per round: see shimStats
	limited                  int     // rounds in which the solver stopped at its iteration limit
}

// Summarise averages over the rounds from first on; earlier rounds are start-up.
func (r *Run) Summarise(first int) Summary {
	rounds := r.Rounds[min(max(first, 0), len(r.Rounds)):]
	s := Summary{rounds: len(rounds)}
	if len(rounds) == 0 {
		return s
	}
	whole, values, n := 0, 0, float64(len(rounds))
	times := make([]time.Duration, len(rounds))
	for i := range rounds {
		k := &rounds[i]
		times[i] = k.CPU
		s.Movements += float64(k.Movements) / n
		s.replicas += float64(k.replicas) / n
		s.Imbalance += k.imbalance / n
		s.mostImbalance = max(s.mostImbalance, k.imbalance)
		s.overMemory = max(s.overMemory, k.overMemory)
		s.CPU += k.CPU
		s.Parallel += k.parallel
		s.dropped += float64(k.stats.Shim.Dropped) / n
		s.evicted += float64(k.stats.Shim.Evicted) / n
		whole += k.stats.Zero + k.stats.One
		values += k.stats.Zero + k.stats.One + k.stats.Between
		if k.imbalance <= 2*r.Spec.Epsilon+slack {
			s.within += 1 / n
		}
		if k.stats.Limited {
			s.limited++
		}
	}
	s.CPU /= time.Duration(len(rounds))
	s.Parallel /= time.Duration(len(rounds))
	s.CPU99 = casestudy.Quantile(times, 0.99)
	s.Whole = math.NaN()
	if values > 0 {
		s.Whole = float64(whole) / float64(values)
	}
	return s
}
