package profiles

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
)

type point struct {
	local      float64 // samples per replica and pass; whole
	step, sync float64 // seconds
}

type series []point

func (s series) at(local float64) (step, sync float64, ok bool) {
	if len(s) == 0 || local < s[0].local || local > s[len(s)-1].local {
		return 0, 0, false
	}
	low, high := 0, len(s)-1 // s[low].local <= local, s[high].local >= local
	for high-low > 1 {
		mid := int(uint(low+high) / 2)
		if s[mid].local <= local {
			low = mid
		} else {
			high = mid
		}
	}
	a, b := &s[low], &s[high]
	if local == a.local {
		return a.step, a.sync, true
	}
	w := (local - a.local) / (b.local - a.local)
	return a.step + w*(b.step-a.step), a.sync + w*(b.sync-a.sync), true
}

func (s series) bounds() (least, most int) {
	return int(s[0].local), int(s[len(s)-1].local)
}

type table []*profile

type profile struct {
	gpuType     cluster.GPUType
	replicaGPUs int                 // P: GPUs of one replica
	shapes      map[shapeKey]series // exact placements, and whole nodes beyond them
	spread      []measurement       // input of estimate
	nearest     []int16             // index into spread, see nearestIndex
	net         [2]line             // mean sync time over replicas, for one node and several
}

func (t table) find(g cluster.GPUType) *profile {
	for _, p := range t {
		if p.gpuType == g {
			return p
		}
	}
	return nil
}

// Step implements Speed. For measured shapes, and for listed whole nodes, it interpolates between local batch sizes.
// For other shapes it estimates from the nearest one (profile.estimate). A replica of several GPUs does not span nodes.
func (t table) Step(g cluster.GPUType, shape []int, local int) (step, sync float64, ok bool) {
	p := t.find(g)
	if p == nil {
		return 0, 0, false
	}
	key, nodes, gpus := summarise(shape)
	if s, found := p.shapes[key]; found {
		return s.at(float64(local))
	}
	if !p.fits(shape, gpus) {
		return 0, 0, false
	}
	return p.estimate(nodes, gpus/p.replicaGPUs, float64(local))
}

func (t table) LocalRange(g cluster.GPUType, shape []int) (least, most int) {
	p := t.find(g)
	if p == nil {
		return 0, 0
	}
	key, nodes, gpus := summarise(shape)
	if s, found := p.shapes[key]; found {
		return s.bounds()
	}
	if !p.fits(shape, gpus) {
		return 0, 0
	}
	m, _ := p.near(nodes, gpus/p.replicaGPUs)
	return m.series.bounds()
}

func (p *profile) fits(shape []int, gpus int) bool {
	return gpus > 0 && wholeReplicas(shape, p.replicaGPUs)
}

func wholeReplicas(shape []int, size int) bool {
	for _, n := range shape {
		if n%size != 0 {
			return false
		}
	}
	return true
}

type measurement struct {
	nodes, replicas int
	series          series
}

type line struct{ a, b float64 }

func (l line) at(x float64) float64 { return l.a + l.b*x }

// The grid of nearest measurements; larger shapes use its edge. Source: Sia simulator, whose
// interpolation counts more than 16 nodes as 16.
const (
	gridNodes    = 16
	gridReplicas = 128
)

func nearestIndex(nodes, replicas int) int {
	return (min(nodes, gridNodes)-1)*gridReplicas + min(replicas, gridReplicas) - 1
}

// several is the least factor on sync time for several nodes if only one node was measured. Source: Sia
// §3.3.2, the prior of the throughput model.
const several = 1.1

func (p *profile) near(nodes, replicas int) (*measurement, float64) {
	m := &p.spread[p.nearest[nearestIndex(nodes, replicas)]]
	net, factor := p.net[kind(m.nodes)], 1.0
	if kind(nodes) > kind(m.nodes) {
		factor = several
	}
	if base := net.at(float64(m.replicas)); base > 0 {
		factor *= net.at(float64(replicas)) / base
	}
	return m, factor
}

func kind(nodes int) int { return min(nodes, 2) - 1 }

// estimate returns the times of a shape without measurement: the compute time of the nearest measured shape, and
// its sync time scaled by a line fitted to the sync times of this application and GPU type over replicas. The
// nearest shape minimises |ln(replicas ratio)| + |ln(nodes ratio)|; one node and several are kept apart.
func (p *profile) estimate(nodes, replicas int, local float64) (step, sync float64, ok bool) {
	m, factor := p.near(nodes, replicas)
	step, sync, ok = m.series.at(local)
	return step - sync + sync*factor, sync * factor, ok
}

func (p *profile) index() {
	for k := range p.net {
		p.net[k] = fitLine(p.spread, k)
	}
	where := make([][2]float64, len(p.spread)) // logarithms of nodes, replicas
	for i := range p.spread {
		where[i] = [2]float64{math.Log(float64(p.spread[i].nodes)), math.Log(float64(p.spread[i].replicas))}
	}
	p.nearest = make([]int16, gridNodes*gridReplicas)
	for n := 1; n <= gridNodes; n++ {
		for r := 1; r <= gridReplicas; r++ {
			p.nearest[nearestIndex(n, r)] = nearestTo(where, n, r)
		}
	}
}

func nearestTo(where [][2]float64, nodes, replicas int) int16 {
	logNodes, logReplicas := math.Log(float64(nodes)), math.Log(float64(replicas))
	best, least := 0, math.Inf(1)
	for i, w := range where {
		d := math.Abs(logNodes-w[0]) + math.Abs(logReplicas-w[1])
		if (nodes > 1) != (w[0] > 0) {
			d += otherKind
		}
		if d < least {
			best, least = i, d
		}
	}
	return int16(best)
}

const otherKind = 1e6

func fitLine(spread []measurement, k int) line {
	var n, sx, sy, sxx, sxy float64
	for i := range spread {
		m := &spread[i]
		if kind(m.nodes) != k || m.replicas < 2 {
			continue
		}
		x, y := float64(m.replicas), m.series.meanSync()
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if n == 0 {
		return line{}
	}
	b := 0.0
	if d := n*sxx - sx*sx; d > 0 {
		b = (n*sxy - sx*sy) / d
	}
	a := (sy - b*sx) / n
	switch {
	case b < 0:
		return line{a: sy / n}
	case a < 0:
		return line{b: sy / sx}
	}
	return line{a: a, b: b}
}

func (s series) meanSync() float64 {
	sum := 0.0
	for i := range s {
		sum += s[i].sync
	}
	return sum / float64(len(s))
}
