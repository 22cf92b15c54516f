package te

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A Paths has the paths of all demands, in flat slices. The paths of demand j are First[j] to First[j+1]-1, shortest
// first. Path p has the links Links[Start[p]:Start[p+1]], in order.
type paths struct {
	First []int32 // by demand, and one more
	Start []int32 // by path, and one more
	Links []int32
}

// Len returns the number of paths.
func (p *paths) Len() int { return len(p.Start) - 1 }

// Of returns the links of path i.
func (p *paths) Of(i int) []int32 { return p.Links[p.Start[i]:p.Start[i+1]] }

// Pick returns the paths of the given demands, in that order.
func (p *paths) Pick(demands []int) *paths {
	q := &paths{First: make([]int32, 1, len(demands)+1), Start: make([]int32, 1)}
	for _, j := range demands {
		for i := p.First[j]; i < p.First[j+1]; i++ {
			q.Links = append(q.Links, p.Of(int(i))...)
			q.Start = append(q.Start, int32(len(q.Links)))
		}
		q.First = append(q.First, int32(q.Len()))
	}
	return q
}

// edgeDisjoint returns up to k paths for each demand. The paths of a demand have no link in common. Each is the
// shortest that uses only links with capacity not used by earlier ones. A path takes a breadth-first search from both
// ends. Source: thesis §5.1.2. Deviation: length counts links, where POP's framework has 1 / capacity, because the
// figures that we compare with were measured so.
func edgeDisjoint(t *Topology, demands []Demand, k int) *paths {
	groups := byTarget(t, demands)
	found := make([][]int32, len(demands)) // length, links, length, links...
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(groups)) {
		workers.Go(func() {
			s := newSearch(t)
			for {
				g := int(next.Add(1)) - 1
				if g >= len(groups) {
					return
				}
				s.toward(groups[g].target)
				for _, j := range groups[g].demands {
					found[j] = slices.Clone(s.disjoint(int32(demands[j].source), k))
				}
			}
		})
	}
	workers.Wait()
	return collect(found)
}

func collect(found [][]int32) *paths {
	p := &paths{First: make([]int32, 1, len(found)+1), Start: make([]int32, 1)}
	for _, paths := range found {
		for len(paths) > 0 {
			n := paths[0]
			p.Links = append(p.Links, paths[1:1+n]...)
			p.Start = append(p.Start, int32(len(p.Links)))
			paths = paths[1+n:]
		}
		p.First = append(p.First, int32(p.Len()))
	}
	return p
}

type group struct {
	target  int
	demands []int
}

func byTarget(t *Topology, demands []Demand) []group {
	groups := make([]group, len(t.nodes))
	for j, d := range demands {
		groups[d.target].target = d.target
		groups[d.target].demands = append(groups[d.target].demands, j)
	}
	return slices.DeleteFunc(groups, func(g group) bool { return g.demands == nil })
}

const none = int32(1<<31 - 1)

type search struct {
	side   [2]side // forward from the source, backward from the target
	target int32
	rest   []int32  // links to the target
	used   []uint32 // == round if used by this demand
	round  uint32
	paths  []int32
}

type side struct {
	arcs   arcs
	via    []arc    // it was reached from
	seen   []uint32 // == stamp if reached
	stamp  uint32
	border []int32 // the last layer
	next   []int32
}

func newSearch(t *Topology) *search {
	n := len(t.nodes)
	s := &search{rest: make([]int32, n), used: make([]uint32, len(t.links))}
	for i := range s.side {
		s.side[i] = side{arcs: t.arcs(i == 1), via: make([]arc, n), seen: make([]uint32, n)}
	}
	return s
}

func (s *search) toward(v int) {
	s.target = int32(v)
	for i := range s.rest {
		s.rest[i] = none
	}
	s.rest[v] = 0
	open := s.side[1].border[:0]
	open = append(open, s.target)
	for i := 0; i < len(open); i++ {
		for _, a := range s.side[1].arcs.of(open[i]) {
			if s.rest[a.node] == none {
				s.rest[a.node] = s.rest[open[i]] + 1
				open = append(open, a.node)
			}
		}
	}
	s.side[1].border = open
}

func (s *search) disjoint(source int32, k int) []int32 {
	s.paths = s.paths[:0]
	s.round++
	if source == s.target || s.rest[source] == none {
		return nil
	}
	for i := range k {
		n := len(s.paths)
		s.paths = append(s.paths, 0)
		if i == 0 {
			s.descend(source)
		} else if !s.meet(source) {
			return s.paths[:n]
		}
		s.paths[n] = int32(len(s.paths) - n - 1)
		for _, link := range s.paths[n+1:] {
			s.used[link] = s.round
		}
	}
	return s.paths
}

func (s *search) descend(v int32) {
	for v != s.target {
		for _, a := range s.side[0].arcs.of(v) {
			if s.rest[a.node] == s.rest[v]-1 {
				s.paths = append(s.paths, a.link)
				v = a.node
				break
			}
		}
	}
}

// meet appends a shortest path over unused links, or returns false. It expands the smaller border, so a cut-off
// end is found soon.
func (s *search) meet(source int32) bool {
	s.side[0].begin(source)
	s.side[1].begin(s.target)
	for len(s.side[0].border) > 0 && len(s.side[1].border) > 0 {
		near, far := &s.side[0], &s.side[1]
		if len(far.border) < len(near.border) {
			near, far = far, near
		}
		if v := s.layer(near, far); v >= 0 {
			s.walk(source, v)
			return true
		}
	}
	return false
}

func (d *side) begin(v int32) {
	d.stamp++
	d.seen[v] = d.stamp
	d.border = append(d.border[:0], v)
}

func (s *search) layer(d, other *side) int32 {
	d.next = d.next[:0]
	for _, u := range d.border {
		for _, a := range d.arcs.of(u) {
			if d.seen[a.node] == d.stamp || s.used[a.link] == s.round {
				continue
			}
			d.seen[a.node] = d.stamp
			d.via[a.node] = arc{u, a.link}
			if other.seen[a.node] == other.stamp {
				return a.node
			}
			d.next = append(d.next, a.node)
		}
	}
	d.border, d.next = d.next, d.border
	return -1
}

func (s *search) walk(source, v int32) {
	n := len(s.paths)
	for u := v; u != source; u = s.side[0].via[u].node {
		s.paths = append(s.paths, s.side[0].via[u].link)
	}
	slices.Reverse(s.paths[n:])
	for u := v; u != s.target; u = s.side[1].via[u].node {
		s.paths = append(s.paths, s.side[1].via[u].link)
	}
}
