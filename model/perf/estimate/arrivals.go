package estimate

import (
	"math"
	"time"
)

// arrivals counts the arrivals of a class. An arrival counts e^(-age/Forget).
type arrivals struct {
	n      int
	weight float64 // of all at last
	last   time.Time
}

func (a *arrivals) add(now time.Time, forget time.Duration) {
	a.weight = a.weight*a.fade(now, forget) + 1
	a.n++
	a.last = now
}

// fade returns how much an arrival at time last counts now.
func (a *arrivals) fade(now time.Time, forget time.Duration) float64 {
	return math.Exp(-max(0, now.Sub(a.last).Seconds()) / forget.Seconds())
}

// seldom is the least rate, per second: once in 30,000 years.
const seldom = 1e-12

// rate returns the believed arrivals per second: the weight of all arrivals over the weight of
// the time in which they came. The burn-in is added to that time, with a weight that fades. At a
// constant rate the mean of the result is right once the burn-in has faded. Deviation: BOA's rates are
// constants, the number of arrivals over the last, because it knows the trace.
func (a *arrivals) rate(now, began time.Time, o *ClassOptions) float64 {
	age, forget, burn := max(0, now.Sub(began).Seconds()), o.Forget.Seconds(), o.BurnIn.Seconds()
	watched := -forget * math.Expm1(-age/forget)
	return max(seldom, a.weight*a.fade(now, o.Forget)/(watched+burn*math.Exp(-age/burn)))
}
