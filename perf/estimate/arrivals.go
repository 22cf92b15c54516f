package estimate

import (
	"math"
	"time"
)

// arrivals count those of a class, each e^(-age/Forget).
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

// fade returns what an arrival at last counts now.
func (a *arrivals) fade(now time.Time, forget time.Duration) float64 {
	return math.Exp(-max(0, now.Sub(a.last).Seconds()) / forget.Seconds())
}

// seldom is the least rate, per second: once in 30,000 years.
const seldom = 1e-12

// rate returns the believed arrivals per second: the weight of all over the weight of
// the time in which they came, to which the burn-in is added, less and less. At a
// constant rate its mean is right as soon as that has faded. Deviation: BOA's rates are
// constants, the number of arrivals over the last, because it knows the trace.
func (a *arrivals) rate(now, began time.Time, o *ClassOptions) float64 {
	age, forget, burn := max(0, now.Sub(began).Seconds()), o.Forget.Seconds(), o.BurnIn.Seconds()
	watched := -forget * math.Expm1(-age/forget)
	return max(seldom, a.weight*a.fade(now, o.Forget)/(watched+burn*math.Exp(-age/burn)))
}
