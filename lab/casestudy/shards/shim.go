package shards

import (
	"cmp"
	"slices"
)

type shimStats struct {
	Dropped int // removed from servers short of memory
	Evicted int // last replicas moved elsewhere
	Stuck   int // servers still over their memory
}

// runShim removes replicas from r until each server has enough memory. It passes over the servers. On an overfull server
// it removes the replica with the least load Rᵢⱼ lⱼ whose shard has other replicas; these take over its load in
// proportion. Load may become uneven, but every shard stays served. Xᵇⁱⁿ of the thesis is 1 where R > 0. It takes the
// replicas of overfull servers times the replicas of a shard. Source: thesis §5.1.1, "Applying COpter".
//
// Deviation: an overfull server may host only last replicas, which the thesis does not cover, because other servers may
// have dropped theirs. The least loaded then move to the least loaded server with memory, perhaps after dropping
// replicas. Stuck counts the servers that stay over their memory: 0 if shards have one size and all fit.
func runShim(in *Instance, r assignment) (assignment, shimStats) {
	s := newShim(in, r)
	for i := range s.used {
		s.drop(i)
	}
	for i := range s.used {
		s.evict(i)
	}
	return s.a, s.stats
}

type shim struct {
	in    *Instance
	a     assignment
	on    [][]int // shards by server
	used  []float64
	load  []float64
	stats shimStats
}

func newShim(in *Instance, r assignment) *shim {
	s := &shim{in: in, a: r.clone(), on: make([][]int, in.servers()), used: in.serverMemory(r), load: in.serverLoads(r)}
	for j, shares := range r {
		for _, share := range shares {
			s.on[share.Server] = append(s.on[share.Server], j)
		}
	}
	return s
}

func (s *shim) over(i int) bool { return s.used[i] > s.in.memory[i]*(1+1e-12) }

func (s *shim) lightest(i int) []int {
	loads := make(map[int]float64, len(s.on[i]))
	for _, j := range s.on[i] {
		k, _ := s.a.find(j, i)
		loads[j] = s.a[j][k].Part * s.in.loads[j]
	}
	shards := slices.Clone(s.on[i])
	slices.SortFunc(shards, func(a, b int) int { return cmp.Or(cmp.Compare(loads[a], loads[b]), a-b) })
	return shards
}

func (s *shim) drop(i int) {
	if !s.over(i) {
		return
	}
	for _, j := range s.lightest(i) {
		if !s.over(i) {
			return
		}
		if len(s.a[j]) > 1 {
			s.remove(j, i)
			s.stats.Dropped++
		}
	}
}

func (s *shim) remove(j, i int) {
	k, _ := s.a.find(j, i)
	part := s.a[j][k].Part
	s.a[j] = slices.Delete(s.a[j], k, k+1)
	s.used[i] -= s.in.sizes[j]
	s.load[i] -= part * s.in.loads[j]
	s.on[i] = slices.DeleteFunc(s.on[i], func(other int) bool { return other == j })
	rest := 0.0
	for _, share := range s.a[j] {
		rest += share.Part
	}
	for k := range s.a[j] {
		more := part * s.a[j][k].Part / rest
		s.a[j][k].Part += more
		s.load[s.a[j][k].Server] += more * s.in.loads[j]
	}
}

func (s *shim) evict(i int) {
	if !s.over(i) {
		return
	}
	for _, j := range s.lightest(i) {
		if !s.over(i) {
			return
		}
		if to := s.home(j, i); to >= 0 {
			s.clear(to, s.in.sizes[j])
			s.move(j, i, to)
			s.stats.Evicted++
		}
	}
	if s.over(i) {
		s.stats.Stuck++
	}
}

func (s *shim) home(j, i int) int {
	roomy, best := -1, -1
	for k := range s.used {
		switch room := s.in.memory[k] - s.in.sizes[j]; {
		case k == i:
		case s.used[k] <= room:
			if roomy < 0 || s.load[k] < s.load[roomy] {
				roomy = k
			}
		case s.used[k]-s.spare(k) <= room:
			if best < 0 || s.load[k] < s.load[best] {
				best = k
			}
		}
	}
	if roomy >= 0 {
		return roomy
	}
	return best
}

func (s *shim) spare(i int) float64 {
	sum := 0.0
	for _, j := range s.on[i] {
		if len(s.a[j]) > 1 {
			sum += s.in.sizes[j]
		}
	}
	return sum
}

func (s *shim) clear(i int, size float64) {
	for _, j := range s.lightest(i) {
		if s.used[i]+size <= s.in.memory[i] {
			return
		}
		if len(s.a[j]) > 1 {
			s.remove(j, i)
			s.stats.Dropped++
		}
	}
}

func (s *shim) move(j, i, to int) {
	s.a[j] = []share{{Server: to, Part: 1}}
	s.used[i] -= s.in.sizes[j]
	s.used[to] += s.in.sizes[j]
	s.load[i] -= s.in.loads[j]
	s.load[to] += s.in.loads[j]
	s.on[i] = slices.DeleteFunc(s.on[i], func(other int) bool { return other == j })
	s.on[to] = append(s.on[to], j)
}

func (s *shimStats) add(more shimStats) {
	s.Dropped += more.Dropped
	s.Evicted += more.Evicted
	s.Stuck += more.Stuck
}
