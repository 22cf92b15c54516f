package te

import "slices"

// An Instance is the problem of one round: a network, demands and their paths.
type Instance struct {
	topology *Topology
	paths    *paths
	demands  []Demand // in the order of Paths
}

func (in *Instance) loads(flow []float64) []float64 {
	load := make([]float64, len(in.topology.links))
	for p, x := range flow {
		if x != 0 {
			for _, e := range in.paths.Of(p) {
				load[e] += x
			}
		}
	}
	return load
}

// violation returns by how much a flow by path exceeds limits: the largest excess over the capacity c of a link,
// divided by 1 + c; the largest excess over the volume v of a demand, divided by 1 + v; and minus the sum of negative
// flows.
func (in *Instance) violation(flow []float64) (link, demand, negative float64) {
	for e, load := range in.loads(flow) {
		link = max(link, (load-in.topology.links[e].Capacity)/(1+in.topology.links[e].Capacity))
	}
	for j, d := range in.demands {
		sum := 0.0
		for _, x := range flow[in.paths.First[j]:in.paths.First[j+1]] {
			negative -= min(x, 0)
			sum += x
		}
		demand = max(demand, (sum-d.volume)/(1+d.volume))
	}
	return link, demand, negative
}

// scaleBack reduces a flow until it respects all limits. Negative flows become 0, flows beyond a demand shrink, and
// each path is scaled down by its most overloaded link.
func (in *Instance) scaleBack(flow []float64) {
	for j, d := range in.demands {
		paths := flow[in.paths.First[j]:in.paths.First[j+1]]
		sum := 0.0
		for i, x := range paths {
			paths[i] = max(x, 0)
			sum += paths[i]
		}
		if sum > d.volume {
			for i := range paths {
				paths[i] *= d.volume / sum
			}
		}
	}
	room := in.loads(flow)
	for e, load := range room {
		room[e] = 1
		if c := in.topology.links[e].Capacity; load > c {
			room[e] = c / load
		}
	}
	for p, x := range flow {
		if x == 0 {
			continue
		}
		least := 1.0
		for _, e := range in.paths.Of(p) {
			least = min(least, room[e])
		}
		flow[p] = x * least
	}
}

// topUp increases a flow until the limits stop it: paths with the fewest links first, then the largest demands.
func (in *Instance) topUp(flow []float64) {
	free := in.free(flow)
	for _, p := range in.byLength() {
		j := p.demand
		left := in.demands[j].volume
		for _, x := range flow[in.paths.First[j]:in.paths.First[j+1]] {
			left -= x
		}
		flow[p.path] += free.take(in.paths.Of(p.path), left)
	}
}

type capacities []float64

func (in *Instance) free(flow []float64) capacities {
	free := capacities(in.loads(flow))
	for e, load := range free {
		free[e] = max(in.topology.links[e].Capacity-load, 0)
	}
	return free
}

func (c capacities) take(links []int32, most float64) float64 {
	for _, e := range links {
		most = min(most, c[e])
	}
	if most <= 0 {
		return 0
	}
	for _, e := range links {
		c[e] -= most
	}
	return most
}

type ofDemand struct{ path, demand int }

func (in *Instance) byLength() []ofDemand {
	byLinks := make([][]ofDemand, len(in.topology.nodes))
	for _, j := range heaviest(in.demands) {
		for p := in.paths.First[j]; p < in.paths.First[j+1]; p++ {
			n := len(in.paths.Of(int(p)))
			byLinks[n] = append(byLinks[n], ofDemand{int(p), j})
		}
	}
	return slices.Concat(byLinks...)
}
