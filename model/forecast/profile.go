package forecast

import "math"

// A profile is the smoothed mean of past days by time of day; older days count less.
type profile struct {
	days   int
	today  []float64 // values of the present day
	mean   []float64 // by time of day, over complete days
	smooth []float64
	reach  int // steps of smoothing to either side
}

const (
	profileReach  = 96  // a day over the smoothing on either side: 15 minutes
	profileLatest = 0.1 // least weight of the latest day
)

func newProfile(day int) *profile {
	return &profile{mean: make([]float64, day), smooth: make([]float64, day), reach: day / profileReach}
}

func (p *profile) observe(busy float64) bool {
	if p.today = append(p.today, busy); len(p.today) < len(p.mean) {
		return false
	}
	p.days++
	w := math.Max(1/float64(p.days), profileLatest)
	for i, b := range p.today {
		p.mean[i] += w * (b - p.mean[i])
	}
	p.today = p.today[:0]
	for i := range p.smooth {
		p.smooth[i] = p.around(i)
	}
	return true
}

func (p *profile) around(i int) float64 {
	sum, weight, day := 0.0, 0.0, len(p.mean)
	for d := -p.reach; d <= p.reach; d++ {
		w := float64(p.reach + 1 - max(d, -d))
		sum += w * p.mean[(i+d+day)%day]
		weight += w
	}
	return sum / weight
}

func (p *profile) ahead(h int) float64 {
	return p.smooth[(len(p.today)+h-1)%len(p.smooth)]
}
