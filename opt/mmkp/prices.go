package mmkp

import (
	"math"
)

// A pricing finds the prices of the lowest bound, and keeps them between solves.
type pricing struct {
	call *call
	core *coreProblem
	inv  *inventory
	scan *scanner

	priced  bool      // prices exist, from an earlier solve or the caller
	par     []float64 // prices at which all capacity is worth as much as all items
	scale   []float64 // the prices, at least a hundredth of par
	radius  []float64 // half the width of the core's next range
	started []float64
}

func (pr *pricing) forget(k int) {
	pr.core.Prices, pr.scale = sized(pr.core.Prices, k), sized(pr.scale, k)
	clear(pr.core.Prices)
	pr.priced, pr.radius = false, pr.radius[:0]
}

func (pr *pricing) begin(prices []float64) {
	copy(pr.core.Prices, prices)
	pr.priced = true
	pr.radius = pr.radius[:0]
}

// small is the number of stored choices up to which a program without prices starts with all items in the core.
const small = 1 << 11

// maxRounds bounds the number of cores. It is never reached, because ranges grow fourfold.
const maxRounds = 200

// findPrices leaves the prices of the lowest bound in p.core.Prices, with the last core around them. It fills a
// core around the last prices and walks down in it. If the walk ends at an end of a range, the next range is
// wider. Otherwise these prices are the best, because the bound is convex. If a core would be too large, its
// ranges become narrower.
func (pr *pricing) findPrices() {
	pr.core.Steps, pr.core.Bound, pr.scan.whole = 0, math.Inf(1), false
	pr.measurePrices()
	cold := !pr.priced
	if cold && pr.inv.stored <= small {
		pr.setRanges()
		pr.scan.setAllRanges()
	} else if cold {
		pr.approach()
	}
	pr.started = append(pr.started[:0], pr.core.Prices...)
	for range maxRounds {
		if !pr.scan.whole {
			pr.setRanges()
		}
		if !pr.scan.scan() {
			if !cold {
				cold = true
				pr.approach()
			}
			for k := range pr.radius {
				pr.radius[k] /= 4
			}
			continue
		}
		pr.core.Descend(pr.call.ctx, pr.call.opts.MaxSteps)
		if pr.halted() || !pr.widen() {
			break
		}
	}
	pr.priced = true
	for k, x := range pr.core.Prices {
		if cold {
			pr.radius[k] = pr.scale[k] / 100
		} else {
			pr.radius[k] = max(2*math.Abs(x-pr.started[k]), pr.radius[k]/4, pr.scale[k]/1000)
		}
	}
}

func (pr *pricing) halted() bool {
	return pr.core.Steps >= pr.call.opts.MaxSteps || pr.call.ctx.Err() != nil
}

// measurePrices sets the scale of prices, the penalty, and missing widths of ranges.
func (pr *pricing) measurePrices() {
	total, must := 1.0, 0.0
	for i := range pr.inv.items {
		x := &pr.inv.items[i]
		switch {
		case !x.live:
		case x.must:
			must += 2 * x.size
		default:
			total += x.size
		}
	}
	pr.scan.penalty = 2 * (total + must)
	pr.par = sized(pr.par, pr.core.K)
	for k, b := range pr.core.Capacity {
		pr.par[k] = 0
		if b > 0 {
			pr.par[k] = (total + must) / (float64(pr.core.K) * b)
		}
		pr.scale[k] = max(pr.core.Prices[k], pr.par[k]/100)
	}
	if len(pr.radius) != pr.core.K {
		pr.radius = sized(pr.radius, pr.core.K)
		for k := range pr.radius {
			pr.radius[k] = pr.scale[k] / 20
		}
	}
}

// approach moves from prices at which all capacity is worth as much as all items towards the lowest bound. The price
// of a resource with too much demand rises, in steps that shrink.
func (pr *pricing) approach() {
	clear(pr.radius)
	wide := append([]float64(nil), pr.scale...)
	copy(pr.core.Prices, pr.par)
	for n := 0; n < 32 && !pr.halted(); n++ {
		pr.setRanges()
		pr.scan.scan()
		far := false
		power := 0.8 / (1 + float64(n)/8)
		for k, b := range pr.core.Capacity {
			ratio := 0.0
			if b > 0 {
				ratio = (b - pr.core.Spare[k]) / b
			}
			far = far || ratio > 1.02 || ratio < 0.98 && pr.core.Prices[k] > 0
			move := min(max(math.Pow(ratio, power), 0.25), 4)
			pr.core.Prices[k] *= move
			pr.scale[k] = max(pr.core.Prices[k], pr.par[k]/100)
			wide[k] = pr.scale[k] * min(0.25, max(0.02, 2*math.Abs(move-1)))
		}
		pr.core.Steps++
		if !far {
			break
		}
	}
	copy(pr.radius, wide)
}

// widen makes a range four times as wide if its price is at an end, and reports whether any is.
func (pr *pricing) widen() bool {
	if pr.scan.whole {
		return false
	}
	wider := false
	pr.core.AtEnds(func(k int) {
		pr.radius[k] *= 4
		wider = true
	})
	return wider
}

func (pr *pricing) setRanges() {
	pr.core.Ranges = sized(pr.core.Ranges, pr.core.K)
	pr.scan.whole = false
	for k, x := range pr.core.Prices {
		b := priceRange{Middle: x, Low: max(0, x-pr.radius[k]), High: x + pr.radius[k]}
		b.Below, b.Above = b.Low*(1-2*nudge), b.High*(1+2*nudge)
		pr.core.Ranges[k] = b
	}
}
