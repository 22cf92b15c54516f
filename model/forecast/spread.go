package forecast

import "math"

// Before errors were seen they count as these, half as much as one that was. A
// step ahead that is about what a curve like the paper's moves in a step, with
// some distrust. What a horizon adds is said for a day ahead.
const (
	firstSpread = 0.05
	blindSpread = 0.18 // in the first day: about what the paper's curve moves in half a day
	dailySpread = 0.10 // when a day was seen: as if days differed by twice as much as steps

	unknown    = 0.5 // mean and standard deviation of a share that may be 0 or 1
	weekOfDays = 7   // what was seen longer ago than so many days counts for little
)

// ladder returns the horizons, in steps, at which errors are counted; between
// them they are interpolated. The last is a day.
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

// between returns the value at horizon h of a function given at the ladder's
// horizons: linear between them, and beyond the last that of the last. It takes
// up the search at rung i, and returns the rung for the next h, which must not
// be lower.
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

// A Spread learns how far off predictions are, by horizon: it keeps those made
// for the ladder's horizons until the value comes. A prediction costs as much
// memory as its horizon is long, about four days in all.
type Spread struct {
	at     []int
	keep   float64     // weight of the past from value to value
	seen   int         // values so far
	from   int         // predictions made when fewer values were seen do not count
	kept   [][]float64 // [rung][values seen when it was made, modulo horizon]
	square []float64   // mean squared error by rung
	weight []float64   // errors that it is the mean of
}

// NewSpread returns a Spread that has seen nothing; day is the number of values a day.
func NewSpread(day int) *Spread {
	s := &Spread{at: ladder(day), keep: 1 - 1/float64(weekOfDays*day), from: 1}
	for _, h := range s.at {
		s.kept = append(s.kept, make([]float64, h))
		s.square = append(s.square, s.before(h, blindSpread))
		s.weight = append(s.weight, float64(h)/2)
	}
	return s
}

// before returns what squared errors h steps ahead count as before they are seen,
// given what a day ahead adds to their root.
func (s *Spread) before(h int, far float64) float64 {
	return firstSpread*firstSpread + far*far*float64(h)/float64(s.at[len(s.at)-1])
}

// Observe compares a value with the predictions made for it.
func (s *Spread) Observe(busy float64) {
	s.seen++
	for i, h := range s.at {
		if s.seen-h < s.from {
			return // nor is there one from longer ago
		}
		e := busy - s.kept[i][s.seen%h]
		s.weight[i] = s.keep*s.weight[i] + 1
		s.square[i] += (e*e - s.square[i]) / s.weight[i]
	}
}

// predicted keeps a prediction for the horizon of a rung, made now.
func (s *Spread) predicted(rung int, mean float64) { s.kept[rung][s.seen%s.at[rung]] = mean }

// Hold keeps one prediction for every horizon, made now.
func (s *Spread) Hold(mean float64) {
	for rung := range s.at {
		s.predicted(rung, mean)
	}
}

// restart says that predictions are made otherwise from now on, when a day was
// seen: those made before are not compared any more, and their errors count as
// half of one. As errors of spans that overlap are alike, that is as many as the
// horizon is long, by half.
func (s *Spread) restart() {
	s.from = max(s.seen, 1)
	for i, h := range s.at {
		s.square[i] = math.Min(s.square[i], s.before(h, dailySpread))
		s.weight[i] = math.Min(s.weight[i], float64(h)/2)
	}
}

// Fill writes the standard deviations of a forecast; before the first value it
// makes it one of which nothing is known.
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
