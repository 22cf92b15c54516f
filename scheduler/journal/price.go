package journal

import (
	"maps"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// Prices of GPU types, and capacities of groups of nodes.

func (e *encoder) capacity(wants map[cluster.Group]int) {
	e.raw("[")
	for i, g := range slices.Sorted(maps.Keys(wants)) {
		e.comma(i)
		e.raw("[")
		e.str(string(g))
		e.raw(",")
		e.int(wants[g])
		e.raw("]")
	}
	e.raw("]")
}

func (e *encoder) prices(all []policy.TypePrice) {
	e.raw("[")
	for i := range all {
		e.comma(i)
		e.price(&all[i])
	}
	e.raw("]")
}

// price appends [type, price of a GPU], and prices of a core and of memory if there are any.
func (e *encoder) price(p *policy.TypePrice) {
	e.raw("[")
	e.str(string(p.Type))
	e.raw(",")
	e.float(p.Price)
	if p.CPU != 0 || p.Memory != 0 {
		e.raw(",")
		e.float(p.CPU)
		e.raw(",")
		e.float(p.Memory)
	}
	e.raw("]")
}

// capacity reads the wanted nodes of each group; nil if there are none.
func (c *cursor) capacity() map[cluster.Group]int {
	var wants map[cluster.Group]int
	for range c.items() {
		if wants == nil {
			wants = map[cluster.Group]int{}
		}
		c.want('[')
		group := cluster.Group(c.str())
		c.want(',')
		wants[group] = int(c.count(maxGPUs))
		c.want(']')
	}
	return wants
}

func (c *cursor) price() policy.TypePrice {
	var p policy.TypePrice
	c.want('[')
	p.Type = cluster.GPUType(c.str())
	c.want(',')
	p.Price = c.float()
	if c.take(',') {
		p.CPU = c.float()
		c.want(',')
		p.Memory = c.float()
	}
	c.want(']')
	return p
}
