package mmkp

import "math"

// pricing is what a program knows of prices between solves.
type pricing struct {
	prices  []float64 // the best seen
	priced  bool      // they are of an earlier solve, or given
	par     []float64 // prices at which all capacity is worth what all items are
	scale   []float64 // the prices, or what is little beside par
	radius  []float64 // half the width that the next window gets
	started []float64 // the prices that the solve started with
}

// forget returns to nothing, over k resources.
func (s *pricing) forget(k int) {
	s.prices, s.scale = sized(s.prices, k), sized(s.scale, k)
	clear(s.prices)
	s.priced, s.radius = false, s.radius[:0]
}

// begin sets the prices to start from.
func (p *Program) begin(prices []float64) {
	copy(p.prices, prices)
	p.priced = true
	p.radius = p.radius[:0]
}

// small is the number of stored choices up to which a program without prices
// starts with the widest window: all of them.
const small = 1 << 11

// maxWindows is the number of windows until the search for prices gives up; a
// window that does not hold the lowest bound is followed by one of four times
// its width, so that this is never reached.
const maxWindows = 200

// findPrices walks to the prices of the lowest bound, window by window, and
// leaves them in p.prices, and the last window around them. A window that would
// be too large is followed by a smaller one, from prices that fit better.
func (p *Program) findPrices() {
	p.steps, p.bound, p.whole = 0, math.Inf(1), false
	p.measurePrices()
	cold := !p.priced
	if cold && p.stored <= small {
		p.frame()
		p.frameAll()
	} else if cold {
		p.approach()
	}
	p.started = append(p.started[:0], p.prices...)
	for range maxWindows {
		if !p.whole {
			p.frame()
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
		p.descend()
		if p.halted() || !p.widen() {
			break
		}
	}
	p.priced = true
	for k, x := range p.prices {
		if cold {
			p.radius[k] = p.scale[k] / 100
		} else {
			p.radius[k] = max(2*math.Abs(x-p.started[k]), p.radius[k]/4, p.scale[k]/1000)
		}
	}
}

// halted reports whether a limit or the context ends the search for prices.
func (p *Program) halted() bool { return p.steps >= p.opts.MaxSteps || p.ctx.Err() != nil }

// measurePrices finds the scale of prices, the penalty, and widths of windows
// that have none.
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
	p.par = sized(p.par, p.k)
	for k, b := range p.capacity {
		p.par[k] = 0
		if b > 0 {
			p.par[k] = (total + must) / (float64(p.k) * b)
		}
		p.scale[k] = max(p.prices[k], p.par[k]/100)
	}
	if len(p.radius) != p.k {
		p.radius = sized(p.radius, p.k)
		for k := range p.radius {
			p.radius[k] = p.scale[k] / 20
		}
	}
}

// approach goes from prices at which all capacity together is worth what all
// items are to prices near the lowest bound: a resource that is asked for too
// much gets dearer, by less from step to step. The windows' width is left in
// proportion to the last steps.
func (p *Program) approach() {
	clear(p.radius)
	wide := append([]float64(nil), p.scale...)
	copy(p.prices, p.par)
	for n := 0; n < 32 && !p.halted(); n++ {
		p.frame()
		p.scan()
		far := false
		power := 0.8 / (1 + float64(n)/8)
		for k, b := range p.capacity {
			ratio := 0.0
			if b > 0 {
				ratio = (b - p.spare[k]) / b
			}
			far = far || ratio > 1.02 || ratio < 0.98 && p.prices[k] > 0
			move := min(max(math.Pow(ratio, power), 0.25), 4)
			p.prices[k] *= move
			p.scale[k] = max(p.prices[k], p.par[k]/100)
			wide[k] = p.scale[k] * min(0.25, max(0.02, 2*math.Abs(move-1)))
		}
		p.steps++
		if !far {
			break
		}
	}
	copy(p.radius, wide)
}

// widen makes the window four times as wide where the prices are at its end,
// and reports whether there is such an end.
func (p *Program) widen() bool {
	if p.whole {
		return false
	}
	wider := false
	for _, e := range p.planes {
		if e.bend == roof || e.bend == floor && e.at > 0 {
			p.radius[e.k] *= 4
			wider = true
		}
	}
	return wider
}
