package shards

import "slices"

// A Share is a replica of a shard on a server, and the fraction of the shard's load that it serves.
type share struct {
	Server int
	Part   float64 // Rᵢⱼ, more than 0
}

// An Assignment lists the replicas of each shard, sorted by server: the matrix R of the thesis without zeros. The parts
// of a shard add up to 1.
type assignment [][]share

// Hosts reports whether the server has a replica of the shard.
func (a assignment) Hosts(shard, server int) bool {
	_, found := a.find(shard, server)
	return found
}

func (a assignment) find(shard, server int) (int, bool) {
	return slices.BinarySearchFunc(a[shard], server, func(s share, server int) int { return s.Server - server })
}

// Replicas returns the number of replicas.
func (a assignment) Replicas() int {
	n := 0
	for _, shares := range a {
		n += len(shares)
	}
	return n
}

// Movements returns how many replicas must be copied to change assignment a into next. Source: thesis §5.2.1, metric
// (a).
func (a assignment) Movements(next assignment) int {
	n := 0
	for j, shares := range next {
		for _, s := range shares {
			if !a.Hosts(j, s.Server) {
				n++
			}
		}
	}
	return n
}

func (in *Instance) serverLoads(a assignment) []float64 {
	loads := make([]float64, in.servers())
	for j, shares := range a {
		for _, s := range shares {
			loads[s.Server] += s.Part * in.loads[j]
		}
	}
	return loads
}

func (in *Instance) serverMemory(a assignment) []float64 {
	used := make([]float64, in.servers())
	for j, shares := range a {
		for _, s := range shares {
			used[s.Server] += in.sizes[j]
		}
	}
	return used
}

// imbalance returns the difference between the largest and the smallest load of a server, divided by the mean load.
// Source: thesis §5.2.1, metric (b).
func (in *Instance) imbalance(a assignment) float64 {
	loads := in.serverLoads(a)
	return (slices.Max(loads) - slices.Min(loads)) / in.mean()
}

// overMemory returns by which fraction the fullest server exceeds its memory, or 0 if none does.
func (in *Instance) overMemory(a assignment) float64 {
	worst := 0.0
	for i, used := range in.serverMemory(a) {
		worst = max(worst, (used-in.memory[i])/in.memory[i])
	}
	return worst
}

// Unserved returns the largest fraction of any shard's load that no replica serves.
func (a assignment) Unserved() float64 {
	worst := 0.0
	for _, shares := range a {
		sum := 0.0
		for _, s := range shares {
			sum += s.Part
		}
		worst = max(worst, 1-sum, sum-1)
	}
	return worst
}

func (a assignment) clone() assignment {
	c := make(assignment, len(a))
	for j := range a {
		c[j] = slices.Clone(a[j])
	}
	return c
}
