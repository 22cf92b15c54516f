package shockwave

// A stretch is progress that is made at one rate: a regime, or what is left of it.
type stretch struct {
	progress float64 // samples at initial-batch efficiency
	rate     float64 // of them per second, above 0
}

// A forecast is what a job has still to do on some GPUs, regime after regime: at least
// one stretch. Source: Shockwave App. G, "Decomposing job schedules to regime schedules".
type forecast []stretch

// endless bounds the seconds that anything takes: some years.
const endless = 1e9

// time returns the seconds until the job is done; at most endless.
func (f forecast) time() float64 {
	total := 0.0
	for _, s := range f {
		total += s.progress / s.rate
	}
	return min(total, endless)
}

// run returns the progress made in some seconds.
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

// whole returns the progress made in some seconds if the job went on after its end as it
// was there. The round in which it ends counts whole. Source: Shockwave App. G.1, Eq. 7.
func (f forecast) whole(seconds float64) float64 {
	return f.run(seconds) + max(0, seconds-f.time())*f[len(f)-1].rate
}

// after returns what is left once some progress is made.
func (f forecast) after(progress float64) forecast {
	for i, s := range f {
		if s.progress > progress {
			return append(forecast{{s.progress - progress, s.rate}}, f[i+1:]...)
		}
		progress -= s.progress
	}
	return forecast{{0, f[len(f)-1].rate}}
}
