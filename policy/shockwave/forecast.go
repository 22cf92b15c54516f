package shockwave

type stretch struct {
	progress float64 // samples at initial-batch efficiency
	rate     float64 // per second, above 0
}

// A forecast is the remaining work of a job on some GPUs, one or more stretches in order. Source: Shockwave
// App. G, "Decomposing job schedules to regime schedules".
type forecast []stretch

const endless = 1e9

func (f forecast) time() float64 {
	total := 0.0
	for _, s := range f {
		total += s.progress / s.rate
	}
	return min(total, endless)
}

func (f forecast) run(seconds float64) float64 {
	made := 0.0
	for _, s := range f {
		if seconds <= 0 {
			break
		}
		made += min(s.progress, s.rate*seconds)
		seconds -= s.progress / s.rate
	}
	return made
}

// extended returns the progress in some seconds as if the last stretch never ended, so that the round in
// which a job ends counts fully. Source: Shockwave App. G.1, Eq. 7.
func (f forecast) extended(seconds float64) float64 {
	return f.run(seconds) + max(0, seconds-f.time())*f[len(f)-1].rate
}

func (f forecast) after(progress float64) forecast {
	for i, s := range f {
		if s.progress > progress {
			return append(forecast{{s.progress - progress, s.rate}}, f[i+1:]...)
		}
		progress -= s.progress
	}
	return forecast{{0, f[len(f)-1].rate}}
}
