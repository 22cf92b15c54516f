package te

import "slices"

// An Instance is the problem of one round: a network, demands and their paths.
type Instance struct {
	Topology *Topology
	Paths    *Paths
	Demands  []Demand // in the order of Paths
}

// Loads returns the flow over each link.
func (in *Instance) Loads(flow []float64) []float64 {
	load := make([]float64, len(in.Topology.Links))
	for p, x := range flow {
		if x != 0 {
			for _, e := range in.Paths.Of(p) {
				load[e] += x
			}
		}
	}
	return load
}

// Violation returns by how much a flow by path exceeds limits: the largest excess over the capacity c of a link,
// divided by 1 + c; the largest excess over the volume v of a demand, divided by 1 + v; and minus the sum of negative
// flows.
func (in *Instance) Violation(flow []float64) (link, demand, negative float64) {
	for e, load := range in.Loads(flow) {
		link = max(link, (load-in.Topology.Links[e].Capacity)/(1+in.Topology.Links[e].Capacity))
	}
	for j, d := range in.Demands {
		sum := 0.0
		for _, x := range flow[in.Paths.First[j]:in.Paths.First[j+1]] {
			negative -= min(x, 0)
			sum += x
		}
		demand = max(demand, (sum-d.Volume)/(1+d.Volume))
	}
	return link, demand, negative
}

// ScaleBack reduces a flow until it respects all limits. Negative flows become 0, flows beyond a demand shrink, and
// each path is scaled down by its most overloaded link.
func (in *Instance) ScaleBack(flow []float64) {
	for j, d := range in.Demands {
		paths := flow[in.Paths.First[j]:in.Paths.First[j+1]]
		sum := 0.0
		for i, x := range paths {
			paths[i] = max(x, 0)
			sum += paths[i]
		}
		if sum > d.Volume {
			for i := range paths {
				paths[i] *= d.Volume / sum
			}
		}
	}
	room := in.Loads(flow)
	for e, load := range room {
		room[e] = 1
		if c := in.Topology.Links[e].Capacity; load > c {
			room[e] = c / load
		}
	}
	for p, x := range flow {
		if x == 0 {
			continue
		}
		least := 1.0
		for _, e := range in.Paths.Of(p) {
			least = min(least, room[e])
		}
		flow[p] = x * least
	}
}

// TopUp increases a flow until the limits stop it: paths with the fewest links first, then the largest demands.
func (in *Instance) TopUp(flow []float64) {
	free := in.free(flow)
	for _, p := range in.byLength() {
		j := p.demand
		left := in.Demands[j].Volume
		for _, x := range flow[in.Paths.First[j]:in.Paths.First[j+1]] {
			left -= x
		}
		flow[p.path] += free.take(in.Paths.Of(p.path), left)
	}
}

type capacities []float64

func (in *Instance) free(flow []float64) capacities {
	free := capacities(in.Loads(flow))
	for e, load := range free {
		free[e] = max(in.Topology.Links[e].Capacity-load, 0)
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
	byLinks := make([][]ofDemand, len(in.Topology.Nodes))
	for _, j := range heaviest(in.Demands) {
		for p := in.Paths.First[j]; p < in.Paths.First[j+1]; p++ {
			n := len(in.Paths.Of(int(p)))
			byLinks[n] = append(byLinks[n], ofDemand{int(p), j})
		}
	}
	return slices.Concat(byLinks...)
}
