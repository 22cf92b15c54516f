package forecast

// Default returns the model with the least mean error, one step ahead, on unseen
// days of the shared curves made after Lyra's: docs/experiments/forecast.md. Day
// is the number of values a day.
func Default(day int) Model { return NewSeasonal(day) }

// Hold stores mean as the present prediction for every distance.
func (s *Spread) Hold(mean float64) {
	for rung := range s.at {
		s.predicted(rung, mean)
	}
}
