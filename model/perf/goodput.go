package perf

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

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
