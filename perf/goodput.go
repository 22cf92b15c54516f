package perf

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
)

// Goodput returns the progress per second, in samples at initial-batch
// efficiency, on an allocation of replicas data-parallel replicas with batch
// size b. Source: Sia §2.1, Eq. 2.4.
func Goodput(m Model, a cluster.Allocation, replicas int, b job.BatchSize) float64 {
	return m.Throughput(a, b) * m.Efficiency(float64(replicas*b.PerReplica()))
}

// Candidates is the number of total batch sizes BestBatch tries, evenly
// spaced in the logarithm.
const Candidates = 50

// BestBatch returns the batch size that maximises goodput on an allocation
// within the limits, and that goodput; the smallest one if several do. It
// returns 0 and the zero batch size if none is allowed.
//
// A batch that does not fit into GPU memory is reached by accumulation. One
// replica with more than the initial batch accumulates at least once: the
// gradient noise is measured between passes. Source: Pollux §4.1.
//
// It assumes that among batches of equally many passes a larger one takes no less
// time, and has no less throughput and no more efficiency. If the measured
// throughput falls somewhere, it may miss the best by as much as it falls.
func BestBatch(m Model, a cluster.Allocation, replicas int, limits *job.BatchLimits) (float64, job.BatchSize) {
	s := search{model: m, alloc: a, choice: Candidates}
	s.list(replicas, limits, Candidates)
	for i := 0; i < s.n; {
		k := s.run(i)
		s.try(i)
		s.try(k)
		i = k + 1
	}
	for i := 0; i < s.n; {
		k := s.run(i)
		s.between(i, k)
		i = k + 1
	}
	if s.best == 0 {
		return 0, job.BatchSize{}
	}
	return s.best, s.candidates[s.choice].batch
}

// A candidate is a batch size that BestBatch may try, and the model's answer for it.
type candidate struct {
	batch                  job.BatchSize
	samples                float64 // in total
	throughput, efficiency float64
}

// A search is one call of BestBatch.
type search struct {
	model      Model
	alloc      cluster.Allocation
	candidates [Candidates]candidate
	n          int
	best       float64 // goodput
	choice     int     // of the candidates; Candidates while there is none
}

// list fills in the first candidates, most at most: distinct batch sizes by
// ascending total, and thereby in runs of equally many passes. Where even the
// smallest batch is above the limit, it is the only one.
func (s *search) list(replicas int, limits *job.BatchLimits, most int) {
	low, high := bounds(limits, s.alloc.GPUType)
	total := math.Max(float64(limits.Init), float64(low*replicas))
	ratio := math.Pow(math.Max(1, float64(limits.Max)/total), 1/float64(Candidates-1))
	last := job.BatchSize{Local: -1}
	for range Candidates {
		b := split(total/float64(replicas), high, replicas == 1 && total > float64(limits.Init)+1e-8)
		total *= ratio
		if b == last || b.Local < low || b.Local > high {
			continue
		}
		last = b
		s.candidates[s.n] = candidate{batch: b, samples: float64(replicas * b.PerReplica())}
		if s.n++; s.n == most {
			return
		}
	}
}

// run returns the last candidate with as many passes as candidate i.
func (s *search) run(i int) int {
	k := i
	for k+1 < s.n && s.candidates[k+1].batch.Accumulation == s.candidates[i].batch.Accumulation {
		k++
	}
	return k
}

// try asks the model about candidate i.
func (s *search) try(i int) {
	c := &s.candidates[i]
	c.throughput = s.model.Throughput(s.alloc, c.batch)
	c.efficiency = s.model.Efficiency(c.samples)
	if g := c.throughput * c.efficiency; g > s.best || g == s.best && i < s.choice {
		s.best, s.choice = g, i
	}
}

// between tries the candidates between i and k, two of one run that were tried, unless
// an upper bound says that none of them is better than the best. There are two such
// bounds: the throughput of k at the efficiency of i; and the samples of k in the
// time of i, at the efficiency of k, because samples times efficiency only grow.
func (s *search) between(i, k int) {
	if k-i < 2 {
		return
	}
	first, last := &s.candidates[i], &s.candidates[k]
	if first.throughput > 0 && last.throughput > 0 { // else the model has gaps
		most := min(last.throughput*first.efficiency, first.throughput/first.samples*last.samples*last.efficiency)
		if most < s.best || most == s.best && s.choice <= i {
			return
		}
	}
	mid := (i + k) / 2
	s.try(mid)
	s.between(i, mid)
	s.between(mid, k)
}

// Floor returns the goodput with the smallest batch size that BestBatch tries, which
// is a lower bound of what BestBatch returns. It asks the model once; BestBatch asks
// about fifteen times.
func Floor(m Model, a cluster.Allocation, replicas int, limits *job.BatchLimits) float64 {
	s := search{model: m, alloc: a, choice: Candidates}
	if s.list(replicas, limits, 1); s.n > 0 {
		s.try(0)
	}
	return s.best
}

// FloorBetween returns a lower bound of what BestBatch returns on any allocation
// between fewest and most: of the same GPU type, with no fewer nodes and replicas
// than fewest, and no more than most. It asks the model once for all of them. It
// returns 0 if it knows no bound: for one replica, and between one node and several.
//
// It assumes that a pass takes no less time on more nodes, with more replicas or with
// more samples, as in the throughput model. Source: Pollux §4.1.
func FloorBetween(m Model, fewest, most Replicas, limits *job.BatchLimits) float64 {
	low, high := bounds(limits, most.GPUType)
	if low > high/2 || fewest.Replicas < 2 || fewest.Replicas > most.Replicas ||
		fewest.Nodes > most.Nodes || fewest.Nodes == 1 && most.Nodes > 1 {
		return 0
	}
	total := func(r Replicas) float64 { return math.Max(float64(limits.Init), float64(low*r.Replicas)) }
	slowest := split(total(fewest)/float64(fewest.Replicas), high, false)
	throughput := m.Throughput(most.Allocation, slowest) / float64(most.Replicas*slowest.PerReplica()) * total(fewest)
	return throughput * m.Efficiency(total(most)+float64(most.Replicas))
}

// Replicas are an allocation and the number of a job's replicas that it holds.
type Replicas struct {
	cluster.Allocation
	Replicas int
}

// bounds returns the smallest and largest local batch on GPU type t.
func bounds(l *job.BatchLimits, t cluster.GPUType) (low, high int) {
	low, high = max(1, l.LocalMin), max(1, l.Max)
	if l.LocalMax != nil {
		if most, ok := l.LocalMax[t]; ok {
			high = most
		}
	}
	return low, high
}

// split cuts a replica's share of a batch into the fewest passes of at most
// high samples.
func split(share float64, high int, accumulate bool) job.BatchSize {
	passes := int(math.Ceil(share/float64(high) - 1e-8))
	if accumulate {
		passes = max(passes, 2)
	}
	passes = max(passes, 1)
	return job.BatchSize{Local: int(math.Ceil(share/float64(passes) - 1e-8)), Accumulation: passes - 1}
}

// FixedBatch returns how replicas on GPU type t process exactly total samples
// an optimiser step, or as close above as whole samples allow.
func FixedBatch(total, replicas int, t cluster.GPUType, limits *job.BatchLimits) job.BatchSize {
	_, high := bounds(limits, t)
	if share := total / replicas; 0 < share && share <= high && share*replicas == total {
		return job.BatchSize{Local: share} // what split would return, only sooner
	}
	return split(float64(total)/float64(replicas), high, false)
}
