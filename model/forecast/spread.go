package forecast

import "math"

// Prior errors, each with half the weight of an observed error. firstSpread is for one step: about
// the change of the paper's curve per step. The others are the increase for a day ahead.
const (
	firstSpread = 0.05
	blindSpread = 0.18 // on the first day: about the change of the paper's curve in half a day
	dailySpread = 0.10 // after the first day: as if days differed twice as much as steps

	unknown    = 0.5 // mean and standard deviation of an unknown share
	weekOfDays = 7   // older observations count little
)

func ladder(day int) []int {
	var at []int
	for h := 1; h < day; h *= 2 {
		at = append(at, h)
		if mid := h + h/2; h > 1 && mid < day {
			at = append(at, mid)
		}
	}
	return append(at, day)
}

// between interpolates at horizon h a function given at the horizons at; after the last it is constant. i is
// the rung for a lower h, and between returns the rung for h.
func between(at []int, value []float64, h, i int) (v float64, rung int) {
	for i < len(at)-1 && at[i+1] <= h {
		i++
	}
	if i == len(at)-1 {
		return value[i], i
	}
	w := float64(h-at[i]) / float64(at[i+1]-at[i])
	return (1-w)*value[i] + w*value[i+1], i
}

// A Spread measures the errors of predictions, separately for several distances (numbers of steps ahead). It stores
// predictions until their actual values are observed.
type Spread struct {
	at          []int       // distances, in steps, ascending; a rung is an index into it
	keep        float64     // factor per value on the weight of earlier errors
	seen        int         // number of values
	from        int         // predictions made earlier than value number from do not count
	predictions [][]float64 // predictions, [rung][number of values at the time, modulo horizon]
	square      []float64   // mean squared error by rung
	weight      []float64   // number of errors in square, weighted
}

// NewSpread returns an empty Spread for load curves with perDay values per day.
func NewSpread(perDay int) *Spread {
	s := &Spread{at: ladder(perDay), keep: 1 - 1/float64(weekOfDays*perDay), from: 1}
	for _, h := range s.at {
		s.predictions = append(s.predictions, make([]float64, h))
		s.square = append(s.square, s.before(h, blindSpread))
		s.weight = append(s.weight, float64(h)/2)
	}
	return s
}

// before returns the prior squared error h steps ahead; far is the increase for a day ahead.
func (s *Spread) before(h int, far float64) float64 {
	return firstSpread*firstSpread + far*far*float64(h)/float64(s.at[len(s.at)-1])
}

// Observe compares an observed value with the earlier predictions of it.
func (s *Spread) Observe(busy float64) {
	s.seen++
	for i, h := range s.at {
		if s.seen-h < s.from {
			return // further rungs have none either
		}
		e := busy - s.predictions[i][s.seen%h]
		s.weight[i] = s.keep*s.weight[i] + 1
		s.square[i] += (e*e - s.square[i]) / s.weight[i]
	}
}

func (s *Spread) predicted(rung int, mean float64) { s.predictions[rung][s.seen%s.at[rung]] = mean }

// restart is called when predictions change after the first day. Older predictions no longer count. Their
// errors get half the weight of one, and overlapping spans have about one error per horizon.
func (s *Spread) restart() {
	s.from = max(s.seen, 1)
	for i, h := range s.at {
		s.square[i] = math.Min(s.square[i], s.before(h, dailySpread))
		s.weight[i] = math.Min(s.weight[i], float64(h)/2)
	}
}

// Fill sets the standard deviations of f from the measured errors. Before the first observed value it sets mean and
// standard deviation to 0.5.
func (s *Spread) Fill(f Forecast) {
	rung := 0
	for i := range f.SD {
		var square float64
		square, rung = between(s.at, s.square, i+1, rung)
		f.SD[i] = math.Min(math.Sqrt(square), unknown)
		if s.seen == 0 {
			f.Mean[i], f.SD[i] = unknown, unknown
		}
	}
}
