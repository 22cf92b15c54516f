package te

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// A Link connects two nodes in one direction.
type link struct {
	From, To int     // nodes
	Capacity float64 // in Mb/s
}

// A Topology is a network of nodes and links. It is immutable.
type Topology struct {
	Name  string
	nodes []string // names
	links []link   // directed, possibly parallel
}

func (t *Topology) validate() error {
	var errs []error
	for i, l := range t.links {
		switch {
		case l.From < 0 || l.From >= len(t.nodes) || l.To < 0 || l.To >= len(t.nodes):
			errs = append(errs, fmt.Errorf("link %d: from node %d to node %d, want 0 to %d", i, l.From, l.To, len(t.nodes)-1))
		case l.From == l.To:
			errs = append(errs, fmt.Errorf("link %d: from node %s to itself", i, t.nodes[l.From]))
		case !(l.Capacity >= 0) || math.IsInf(l.Capacity, 1):
			errs = append(errs, fmt.Errorf("link %d: capacity %v, want finite and at least 0", i, l.Capacity))
		}
		if len(errs) == 10 {
			break
		}
	}
	if len(t.nodes) < 2 {
		errs = append(errs, fmt.Errorf("%d nodes, want at least 2", len(t.nodes)))
	}
	return errors.Join(errs...)
}

func (t *Topology) capacity() float64 {
	sum := 0.0
	for _, l := range t.links {
		sum += l.Capacity
	}
	return sum
}

type nodeLink struct {
	Directed bool `json:"directed"`
	Nodes    []struct {
		ID json.RawMessage `json:"id"`
	} `json:"nodes"`
	Links []struct {
		Source   json.RawMessage `json:"source"`
		Target   json.RawMessage `json:"target"`
		Capacity *float64        `json:"capacity"`
	} `json:"links"`
}

// ReadTopology reads a network as node-link JSON: "nodes" with "id", "links" with "source", "target" and "capacity",
// and "directed". An undirected link becomes two links, one in each direction.
func ReadTopology(name string, r io.Reader) (*Topology, error) {
	var file nodeLink
	if err := json.NewDecoder(r).Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: node-link JSON: %w", name, err)
	}
	t := &Topology{Name: name}
	for _, n := range file.Nodes {
		t.nodes = append(t.nodes, nodeName(n.ID))
	}
	sortNumbers(t.nodes)
	index := make(map[string]int, len(t.nodes))
	for i, n := range t.nodes {
		if _, twice := index[n]; twice {
			return nil, fmt.Errorf("%s: node %s is listed twice", name, n)
		}
		index[n] = i
	}
	for i, l := range file.Links {
		from, okFrom := index[nodeName(l.Source)]
		to, okTo := index[nodeName(l.Target)]
		switch {
		case !okFrom || !okTo:
			return nil, fmt.Errorf("%s: link %d: from %s to %s, want two listed nodes", name, i, l.Source, l.Target)
		case l.Capacity == nil:
			return nil, fmt.Errorf("%s: link %d: no capacity", name, i)
		}
		t.links = append(t.links, link{from, to, *l.Capacity})
		if !file.Directed {
			t.links = append(t.links, link{to, from, *l.Capacity})
		}
	}
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

func nodeName(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func sortNumbers(names []string) {
	value := make(map[string]int, len(names))
	for _, n := range names {
		v, err := strconv.Atoi(n)
		if err != nil {
			return
		}
		value[n] = v
	}
	slices.SortFunc(names, func(a, b string) int { return value[a] - value[b] })
}

type arc struct{ node, link int32 }

type arcs struct {
	first []int32
	list  []arc
}

func (a *arcs) of(v int32) []arc { return a.list[a.first[v]:a.first[v+1]] }

func (t *Topology) arcs(back bool) arcs {
	a := arcs{make([]int32, len(t.nodes)+1), nil}
	for _, l := range t.links {
		if l.Capacity > 0 {
			a.first[near(l, back)+1]++
		}
	}
	for v := range t.nodes {
		a.first[v+1] += a.first[v]
	}
	a.list = make([]arc, a.first[len(t.nodes)])
	next := slices.Clone(a.first)
	for i, l := range t.links {
		if l.Capacity > 0 {
			v := near(l, back)
			a.list[next[v]] = arc{int32(near(l, !back)), int32(i)}
			next[v]++
		}
	}
	return a
}

func near(l link, back bool) int {
	if back {
		return l.To
	}
	return l.From
}
