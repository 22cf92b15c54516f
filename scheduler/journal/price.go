package journal

import (
	"maps"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

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

func (dec *decoder) capacity() map[cluster.Group]int {
	var wants map[cluster.Group]int
	for range dec.in.items() {
		if wants == nil {
			wants = map[cluster.Group]int{}
		}
		dec.in.want('[')
		group := cluster.Group(dec.in.str())
		dec.in.want(',')
		wants[group] = int(dec.in.count(maxGPUs))
		dec.in.want(']')
	}
	return wants
}

func (dec *decoder) price() policy.TypePrice {
	var p policy.TypePrice
	dec.in.want('[')
	p.Type = cluster.GPUType(dec.in.str())
	dec.in.want(',')
	p.Price = dec.in.float()
	if dec.in.take(',') {
		p.CPU = dec.in.float()
		dec.in.want(',')
		p.Memory = dec.in.float()
	}
	dec.in.want(']')
	return p
}
