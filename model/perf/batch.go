package perf

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Candidates is the number of total batch sizes among which BestBatch chooses, evenly spaced on a logarithmic scale.
const Candidates = 50

// BestBatch finds the batch size with the highest goodput on allocation a. It returns the goodput and the smallest
// batch size that reaches it, or zeros if limits allow no batch size.
//
// A batch that exceeds GPU memory is split into accumulation passes. A single replica with more than the initial batch
// size accumulates at least once, because gradient noise is measured between passes. Source: Pollux §4.1.
//
// If the model has a StepTime, the result is the best of all candidates. Otherwise the search assumes that, for equally
// many passes, a larger batch takes no less time, with no lower throughput and no higher efficiency. If measured
// throughput falls with the batch size somewhere, the error is at most this fall.
func BestBatch(m Model, a cluster.Allocation, replicas int, limits *job.BatchLimits) (float64, job.BatchSize) {
	b := FindBatch(m, a, replicas, limits)
	return b.Goodput, b.Batch
}

// A Batch is a batch size with its goodput and throughput. It is zero if the limits allow no batch size or the job
// cannot run.
type Batch struct {
	Batch      job.BatchSize
	Goodput    float64
	Throughput float64 // samples per second
}

// FindBatch is BestBatch, and also returns the throughput.
func FindBatch(m Model, a cluster.Allocation, replicas int, limits *job.BatchLimits) Batch {
	s := search{model: m, alloc: a, choice: Candidates}
	s.n = len(list(s.candidates[:0], scopeOf(replicas, a.GPUType, limits)))
	if t := m.StepTime(a); t.known() {
		s.climb(&t)
	} else {
		s.scan()
	}
	if s.best == 0 {
		return Batch{}
	}
	return Batch{Batch: s.candidates[s.choice].batch, Goodput: s.best, Throughput: s.throughput[s.choice]}
}

type candidate struct {
	batch   job.BatchSize
	samples float64 // total
}

type scope struct {
	replicas  int
	init, max int // total batch
	low, high int // local batch
}

func scopeOf(replicas int, t cluster.GPUType, limits *job.BatchLimits) scope {
	low, high := bounds(limits, t)
	return scope{replicas: replicas, init: limits.Init, max: limits.Max, low: low, high: high}
}

// list appends distinct batch sizes by ascending total, so that equal numbers of passes are adjacent, up to
// the capacity of the slice. If even the smallest batch exceeds the limit, it is the only one.
func list(candidates []candidate, of scope) []candidate {
	total := math.Max(float64(of.init), float64(of.low*of.replicas))
	ratio := math.Pow(math.Max(1, float64(of.max)/total), 1/float64(Candidates-1))
	last := job.BatchSize{Local: -1}
	for range Candidates {
		b := split(total/float64(of.replicas), of.high, of.replicas == 1 && total > float64(of.init)+1e-8)
		total *= ratio
		if b == last || b.Local < of.low || b.Local > of.high {
			continue
		}
		last = b
		candidates = append(candidates, candidate{batch: b, samples: float64(of.replicas * b.PerReplica())})
		if len(candidates) == cap(candidates) {
			break
		}
	}
	return candidates
}

type search struct {
	model      Model
	alloc      cluster.Allocation
	candidates [Candidates]candidate
	n          int // candidates
	throughput [Candidates]float64
	efficiency [Candidates]float64
	best       float64 // goodput
	choice     int     // index of the best candidate; Candidates: none yet
}

func (s *search) try(i int) {
	c := &s.candidates[i]
	s.throughput[i] = s.model.Throughput(s.alloc, c.batch)
	s.efficiency[i] = s.model.Efficiency(c.samples)
	if g := s.throughput[i] * s.efficiency[i]; g > s.best || g == s.best && i < s.choice {
		s.best, s.choice = g, i
	}
}

// scan finds the best candidate without a StepTime: it tries both ends of all runs with equal passes, then
// between them.
func (s *search) scan() {
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
}

func (s *search) run(i int) int {
	k := i
	for k+1 < s.n && s.candidates[k+1].batch.Accumulation == s.candidates[i].batch.Accumulation {
		k++
	}
	return k
}

// between tries the candidates between i and k, both tried and of one run, unless a bound excludes a better
// one. The bounds are the throughput of k at the efficiency of i, and the samples of k in the time of i at
// the efficiency of k (samples times efficiency never falls).
func (s *search) between(i, k int) {
	if k-i < 2 {
		return
	}
	if s.throughput[i] > 0 && s.throughput[k] > 0 { // else the model has gaps
		most := min(s.throughput[k]*s.efficiency[i], s.throughput[i]/s.candidates[i].samples*s.candidates[k].samples*s.efficiency[k])
		if most < s.best || most == s.best && s.choice <= i {
			return
		}
	}
	mid := (i + k) / 2
	s.try(mid)
	s.between(i, mid)
	s.between(mid, k)
}

// Goodput returns throughput times statistical efficiency with the given number of data-parallel replicas on allocation
// a, and batch size b. The unit is samples per second at the efficiency of the initial batch size. Source: Sia §2.1,
// Eq. 2.4.
func Goodput(m Model, a cluster.Allocation, replicas int, b job.BatchSize) float64 {
	return m.Throughput(a, b) * m.Efficiency(float64(replicas*b.PerReplica()))
}

// Floor returns the goodput of the smallest batch size that BestBatch tries. It is a lower bound on the result of
// BestBatch, and evaluates the model once.
func Floor(m Model, a cluster.Allocation, replicas int, limits *job.BatchLimits) float64 {
	var one [1]candidate
	first := list(one[:0], scopeOf(replicas, a.GPUType, limits))
	if len(first) == 0 {
		return 0
	}
	return m.Throughput(a, first[0].batch) * m.Efficiency(first[0].samples)
}

// FloorBetween returns a lower bound on the results of BestBatch for all allocations of one GPU type between fewest and
// most. It evaluates the model only once. It returns 0 for a single replica, and if fewest is on one node and most on
// several.
//
// It assumes that more nodes, replicas or samples never make a pass faster, as in the throughput model. Source: Pollux
// §4.1.
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

// A Replicas is an allocation with the number of data-parallel replicas that a job has on it.
type Replicas struct {
	cluster.Allocation
	Replicas int
}

func bounds(l *job.BatchLimits, t cluster.GPUType) (low, high int) {
	low, high = max(1, l.LocalMin), max(1, l.Max)
	if l.LocalMax != nil {
		if most, ok := l.LocalMax[t]; ok {
			high = most
		}
	}
	return low, high
}

func split(share float64, high int, accumulate bool) job.BatchSize {
	passes := int(math.Ceil(share/float64(high) - 1e-8))
	if accumulate {
		passes = max(passes, 2)
	}
	passes = max(passes, 1)
	return job.BatchSize{Local: int(math.Ceil(share/float64(passes) - 1e-8)), Accumulation: passes - 1}
}

// FixedBatch divides the batch size total among the replicas on GPU type t, rounded up to whole samples. It adds
// accumulation passes if a replica's part does not fit into GPU memory.
func FixedBatch(total, replicas int, t cluster.GPUType, limits *job.BatchLimits) job.BatchSize {
	_, high := bounds(limits, t)
	if share := total / replicas; 0 < share && share <= high && share*replicas == total {
		return job.BatchSize{Local: share} // fast path with the result of split
	}
	return split(float64(total)/float64(replicas), high, false)
}
