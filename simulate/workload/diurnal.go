package workload

import (
	"time"

	"github.com/oxgang/oxgang/internal/rng"
)

// Figures of the paper's inference cluster, with additions of the shared synthetic curves. Source: Lyra
// §2.1, Fig. 1.
const (
	diurnalStep = 5 * time.Minute

	diurnalDay   = 0.02  // standard deviation of the factor per day
	diurnalKeep  = 0.98  // factor on the slow deviation per step
	diurnalSlow  = 0.003 // standard deviation of its change
	diurnalNoise = 0.02  // standard deviation of the noise per step

	diurnalLeast, diurnalMost = 0.40, 0.97
)

var diurnalHours = [24]float64{
	0.84, 0.69, 0.55, 0.47, 0.435, 0.42, 0.43, 0.455, 0.51, 0.57, 0.61, 0.65,
	0.67, 0.65, 0.62, 0.61, 0.625, 0.65, 0.71, 0.81, 0.93, 0.95, 0.95, 0.93,
}

// Diurnal generates the load of an inference cluster for a number of days (at least 1) from midnight, in steps of 5
// minutes. It is a daily profile from 0.42 to 0.95, times a factor per day, plus a slow and a fast deviation. Its mean
// is about 0.65, and its median increase per step about 0.019 (2 % in the paper). Equal arguments give equal curves,
// and more days extend the same curve. Source: Lyra §2.1, Fig. 1, §7.1.
func Diurnal(seed uint64, days int) *Load {
	l := &Load{Step: diurnalStep}
	steps := int(day / diurnalStep)
	factors, slow, noise := rng.Stream(seed, "load/day"), rng.Stream(seed, "load/slow"), rng.Stream(seed, "load/noise")
	deviation := 0.0
	for range days {
		factor := 1 + diurnalDay*factors.NormFloat64()
		for i := range steps {
			deviation = diurnalKeep*deviation + diurnalSlow*slow.NormFloat64()
			b := factor*diurnalProfile(float64(24*i)/float64(steps)) + deviation + diurnalNoise*noise.NormFloat64()
			l.Busy = append(l.Busy, min(max(b, diurnalLeast), diurnalMost))
		}
	}
	return l
}

func diurnalProfile(hour float64) float64 {
	i := int(hour)
	w := hour - float64(i)
	return (1-w)*diurnalHours[i%24] + w*diurnalHours[(i+1)%24]
}
