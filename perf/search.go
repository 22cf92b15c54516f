package perf

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
)

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
