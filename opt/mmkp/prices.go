package mmkp

import (
	"math"
)

// pricing is the state of prices between solves.
type pricing struct {
	priced  bool      // prices exist, from an earlier solve or the caller
	par     []float64 // prices at which all capacity is worth as much as all items
	scale   []float64 // the prices, at least a hundredth of par
	radius  []float64 // half the width of the core's next range
	started []float64 // prices at the start of the solve
}

func (p *Program) forget(k int) {
	p.core.Prices, p.scale = sized(p.core.Prices, k), sized(p.scale, k)
	clear(p.core.Prices)
	p.priced, p.radius = false, p.radius[:0]
}

func (p *Program) begin(prices []float64) {
	copy(p.core.Prices, prices)
	p.priced = true
	p.radius = p.radius[:0]
}

// small is the number of stored choices up to which a program without prices starts with all items in the core.
const small = 1 << 11

// maxRounds bounds the number of cores. It is never reached, because ranges grow fourfold.
const maxRounds = 200

// findPrices walks to the prices of the lowest bound, and leaves them in p.core.Prices, with the last core around
// them. It fills a core around the last prices and walks down in it. If the walk ends at an end of a range, the
// lowest bound may lie beyond, and the next range is wider. Otherwise no price anywhere has a lower bound, because
// the bound is convex. A core that would be too large is replaced by one of narrower ranges, around better prices.
func (p *Program) findPrices() {
	p.core.Steps, p.core.Bound, p.whole = 0, math.Inf(1), false
	p.measurePrices()
	cold := !p.priced
	if cold && p.stored <= small {
		p.setRanges()
		p.setAllRanges()
	} else if cold {
		p.approach()
	}
	p.started = append(p.started[:0], p.core.Prices...)
	for range maxRounds {
		if !p.whole {
			p.setRanges()
		}
		if !p.scan() {
			if !cold {
				cold = true
				p.approach()
			}
			for k := range p.radius {
				p.radius[k] /= 4
			}
			continue
		}
		p.core.Descend(p.ctx, p.opts.MaxSteps)
		if p.halted() || !p.widen() {
			break
		}
	}
	p.priced = true
	for k, x := range p.core.Prices {
		if cold {
			p.radius[k] = p.scale[k] / 100
		} else {
			p.radius[k] = max(2*math.Abs(x-p.started[k]), p.radius[k]/4, p.scale[k]/1000)
		}
	}
}

func (p *Program) halted() bool { return p.core.Steps >= p.opts.MaxSteps || p.ctx.Err() != nil }

// measurePrices sets the scale of prices, the penalty, and missing widths of ranges.
func (p *Program) measurePrices() {
	total, must := 1.0, 0.0
	for i := range p.items {
		x := &p.items[i]
		switch {
		case !x.live:
		case x.must:
			must += 2 * x.size
		default:
			total += x.size
		}
	}
	p.penalty = 2 * (total + must)
	p.par = sized(p.par, p.core.K)
	for k, b := range p.core.Capacity {
		p.par[k] = 0
		if b > 0 {
			p.par[k] = (total + must) / (float64(p.core.K) * b)
		}
		p.scale[k] = max(p.core.Prices[k], p.par[k]/100)
	}
	if len(p.radius) != p.core.K {
		p.radius = sized(p.radius, p.core.K)
		for k := range p.radius {
			p.radius[k] = p.scale[k] / 20
		}
	}
}

// approach moves from prices at which all capacity is worth as much as all items towards the lowest bound. The price
// of a resource with too much demand rises, in steps that shrink. The widths of the ranges follow the last steps.
func (p *Program) approach() {
	clear(p.radius)
	wide := append([]float64(nil), p.scale...)
	copy(p.core.Prices, p.par)
	for n := 0; n < 32 && !p.halted(); n++ {
		p.setRanges()
		p.scan()
		far := false
		power := 0.8 / (1 + float64(n)/8)
		for k, b := range p.core.Capacity {
			ratio := 0.0
			if b > 0 {
				ratio = (b - p.core.Spare[k]) / b
			}
			far = far || ratio > 1.02 || ratio < 0.98 && p.core.Prices[k] > 0
			move := min(max(math.Pow(ratio, power), 0.25), 4)
			p.core.Prices[k] *= move
			p.scale[k] = max(p.core.Prices[k], p.par[k]/100)
			wide[k] = p.scale[k] * min(0.25, max(0.02, 2*math.Abs(move-1)))
		}
		p.core.Steps++
		if !far {
			break
		}
	}
	copy(p.radius, wide)
}

// widen makes a range four times as wide if its price is at an end, and reports whether any is.
func (p *Program) widen() bool {
	if p.whole {
		return false
	}
	wider := false
	p.core.AtEnds(func(k int) {
		p.radius[k] *= 4
		wider = true
	})
	return wider
}
