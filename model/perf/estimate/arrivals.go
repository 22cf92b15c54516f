package estimate

import (
	"math"
	"time"
)

type arrivals struct {
	n      int
	weight float64 // total at time last
	last   time.Time
}

func (a *arrivals) add(now time.Time, forget time.Duration) {
	a.weight = a.weight*a.fade(now, forget) + 1
	a.n++
	a.last = now
}

func (a *arrivals) fade(now time.Time, forget time.Duration) float64 {
	return math.Exp(-max(0, now.Sub(a.last).Seconds()) / forget.Seconds())
}

// seldom is the lowest rate, per second: once in 30,000 years.
const seldom = 1e-12

// rate returns the estimated arrivals per second: the weight of all arrivals over the weight of the
// observed time. The burn-in adds to that time, with a weight that fades. At a constant rate the
// result is unbiased once the burn-in has faded. Deviation: BOA's rates are constants, the number
// of arrivals over the time of the last, because it knows the trace.
func (a *arrivals) rate(now, began time.Time, o *ClassOptions) float64 {
	age, forget, burn := max(0, now.Sub(began).Seconds()), o.Forget.Seconds(), o.BurnIn.Seconds()
	watched := -forget * math.Expm1(-age/forget)
	return max(seldom, a.weight*a.fade(now, o.Forget)/(watched+burn*math.Exp(-age/burn)))
}
