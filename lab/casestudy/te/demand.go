package te

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/oxgang/oxgang/internal/rng"
)

// A Demand is an amount of traffic, Volume, from Source to Target.
type Demand struct {
	source, target int
	volume         float64 // in Mb/s
}

// Total returns the sum of volumes.
func Total(demands []Demand) float64 {
	sum := 0.0
	for _, d := range demands {
		sum += d.volume
	}
	return sum
}

// A Kind is a distribution from which the demands between nodes are drawn.
type Kind string

// Relative sizes, scaled by Traffic.Load.
const (
	Poisson Kind = "poisson" // Poisson with mean Lambda Decay^hops
	Bimodal Kind = "bimodal" // uniform in High or Low
	Gravity Kind = "gravity" // outgoing capacity times the target's incoming
	Uniform Kind = "uniform" // uniform from 0
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Poisson, Bimodal, Gravity, Uniform} }

// A Band is a range of volumes in Mb/s, from which the volumes of demands are drawn.
type band struct{ From, To float64 }

// A Traffic states how demands are drawn at random. Source: thesis §5.2.2, "Traffic matrices"; the rules come from
// POP's framework.
type Traffic struct {
	Kind Kind
	// Load scales the volumes: at 1, evenly spread shortest paths fill every link.
	Load          float64
	Lambda, Decay float64 // for Poisson: see Kind
	highShare     float64 // share of node pairs that draw from high, for Bimodal
	low, high     band    // for Bimodal
	Seed          uint64
}

// DefaultTraffic returns how demands of a kind are drawn in the experiments.
//
// Poisson demands match published measurements of the Kdl network: 332,141 demands of 2,167,823 in total, over 627,256
// paths. Bimodal demands have two bands of equal volume ("roughly even split"); a fifth of the pairs is in the high
// one.
func DefaultTraffic(kind Kind, seed uint64) Traffic {
	return Traffic{
		Kind: kind, Load: 0.8, Seed: seed,
		Lambda: 4000, Decay: 0.7,
		highShare: 0.2, low: band{1, 2}, high: band{5, 7},
	}
}

// Validate returns an error for impossible settings.
func (d *Traffic) Validate() error {
	switch {
	case !slices.Contains(Kinds(), d.Kind):
		return fmt.Errorf("demand %q, want one of %v", d.Kind, Kinds())
	case !(d.Load > 0) || math.IsInf(d.Load, 1):
		return fmt.Errorf("load %v, want finite and above 0", d.Load)
	case d.Kind == Poisson && !(d.Lambda > 0 && d.Lambda <= 1e6 && d.Decay > 0 && d.Decay <= 1):
		return fmt.Errorf("lambda %v and decay %v, want above 0, up to 1e6 and 1", d.Lambda, d.Decay)
	case d.Kind == Bimodal && !(d.highShare >= 0 && d.highShare <= 1 && d.low.ok() && d.high.ok()):
		return fmt.Errorf("high share %v of bands %v and %v, want 0 to 1 of bands above 0", d.highShare, d.low, d.high)
	}
	return nil
}

func (b band) ok() bool { return b.From >= 0 && b.To >= b.From && b.To > 0 && !math.IsInf(b.To, 1) }

func (b band) draw(r *rand.Rand) float64 { return b.From + (b.To-b.From)*r.Float64() }

// Demands returns the demands above 0 between connected nodes, sorted by source, then target, and scaled to d.Load. It
// returns an error for invalid settings, or if there are none.
func (d *Traffic) Demands(t *Topology) ([]Demand, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	r := rng.Stream(d.Seed, "te/demands/"+string(d.Kind))
	hops := t.hops()
	out, in := t.throughput()
	var demands []Demand
	load := 0.0
	for s := range t.nodes {
		for e := range t.nodes {
			if s == e || hops[e][s] == none {
				continue
			}
			v := d.volume(r, hops[e][s], out[s]*in[e])
			if v > 0 {
				demands = append(demands, Demand{s, e, v})
				load += v * float64(hops[e][s])
			}
		}
	}
	if len(demands) == 0 {
		return nil, fmt.Errorf("%s: no demand is above 0", t.Name)
	}
	scale := d.Load * t.capacity() / load
	for i := range demands {
		demands[i].volume *= scale
	}
	return demands, nil
}

func (d *Traffic) volume(r *rand.Rand, hops int32, gravity float64) float64 {
	switch d.Kind {
	case Poisson:
		return float64(poisson(r, d.Lambda*math.Pow(d.Decay, float64(hops))))
	case Bimodal:
		if r.Float64() < d.highShare {
			return d.high.draw(r)
		}
		return d.low.draw(r)
	case Gravity:
		return gravity
	default:
		return r.Float64()
	}
}

func poisson(r *rand.Rand, mean float64) int {
	const most = 500 // against underflow of exp(-most)
	n := 0
	for ; mean > 0; mean -= most {
		end := math.Exp(-min(mean, most))
		for p := r.Float64(); p > end; p *= r.Float64() {
			n++
		}
	}
	return n
}

func (t *Topology) hops() [][]int32 {
	s := newSearch(t)
	all := make([][]int32, len(t.nodes))
	for v := range t.nodes {
		s.toward(v)
		all[v] = slices.Clone(s.rest)
	}
	return all
}

func (t *Topology) throughput() (out, in []float64) {
	out, in = make([]float64, len(t.nodes)), make([]float64, len(t.nodes))
	for _, l := range t.links {
		out[l.From] += l.Capacity
		in[l.To] += l.Capacity
	}
	return out, in
}

// perturb multiplies the volume of every demand by a random factor, uniform from 1−share to 1+share. Source: thesis
// §5.2.2.
func perturb(demands []Demand, share float64, seed uint64, round int) {
	r := rng.Stream(seed, fmt.Sprintf("te/perturb/%d", round))
	for i := range demands {
		demands[i].volume *= 1 + share*(2*r.Float64()-1)
	}
}

// Generate returns a random network of 2 to 5000 nodes; any other number is an error. Equal arguments give equal
// networks.
//
//   - Nodes are random points in a square.
//   - The edges of a minimum spanning tree connect all nodes. The shortest of the other edges are added, half as many
//     as there are nodes. Each edge is two links, one in each direction.
//   - The capacity of a link is 1,000 to 10,000. It grows with the number of shortest paths between nodes that use the
//     link.
func Generate(nodes int, seed uint64) (*Topology, error) {
	if nodes < 2 || nodes > 5000 {
		return nil, fmt.Errorf("%d nodes, want 2 to 5000", nodes)
	}
	r := rng.Stream(seed, "te/topology")
	x, y := make([]float64, nodes), make([]float64, nodes)
	t := &Topology{Name: fmt.Sprintf("generated-%d", nodes)}
	for i := range nodes {
		x[i], y[i] = r.Float64(), r.Float64()
		t.nodes = append(t.nodes, strconv.Itoa(i))
	}
	for _, e := range shortEdges(x, y) {
		t.links = append(t.links, link{e.a, e.b, 1000}, link{e.b, e.a, 1000})
	}
	t.size()
	return t, nil
}

type edge struct {
	a, b   int
	length float64
}

func shortEdges(x, y []float64) []edge {
	var all []edge
	for a := range x {
		for b := a + 1; b < len(x); b++ {
			all = append(all, edge{a, b, math.Hypot(x[a]-x[b], y[a]-y[b])})
		}
	}
	slices.SortFunc(all, func(e, f edge) int {
		return cmp.Or(cmp.Compare(e.length, f.length), e.a-f.a, e.b-f.b)
	})
	part := make([]int, len(x)) // component so far
	for i := range part {
		part[i] = i
	}
	root := func(v int) int {
		for part[v] != v {
			v = part[v]
		}
		return v
	}
	extra := len(x) / 2
	return slices.DeleteFunc(all, func(e edge) bool {
		a, b := root(e.a), root(e.b)
		part[a] = b
		if a == b {
			extra--
		}
		return a == b && extra < 0
	})
}

func (t *Topology) size() {
	var all []Demand
	for s := range t.nodes {
		for e := range t.nodes {
			if s != e {
				all = append(all, Demand{s, e, 1})
			}
		}
	}
	crossed := make([]int, len(t.links))
	for _, e := range edgeDisjoint(t, all, 1).Links {
		crossed[e]++
	}
	most := slices.Max(crossed)
	for i := range t.links {
		l := &t.links[i]
		l.Capacity = 1000 * math.Ceil(10*float64(crossed[i]+1)/float64(most+1))
	}
}
