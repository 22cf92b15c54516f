package sia

import (
	"time"

	"github.com/oxgang/oxgang/policy"
)

// RestartFactor returns the factor that discounts a job's goodput in configurations for which it must restart. For
// a job of age T with N restarts of S each, it is (T − N·S) / (T + S), clamped to [0, 1]; 0 if T ≤ 0. Source: Sia
// §3.3.4, Eq. 3.3.
//
// Example: after 1 h with 2 restarts of 3 min each it is (60−6)/(60+3) = 0.86. So the job moves only if its
// goodput becomes at least 1/0.86 = 1.17 times as high. A job that has restarted often is thus less likely to
// move.
func RestartFactor(age time.Duration, restarts int, overhead time.Duration) float64 {
	if age <= 0 {
		return 0
	}
	t, s := age.Seconds(), overhead.Seconds()
	return min(1, max(0, (t-float64(restarts)*s)/(t+s)))
}

func (p *Policy) restartFactor(j *policy.Job, now time.Time) float64 {
	if !j.Holding() || p.o.FreeYoung && j.Age(now) < j.RestartOverhead {
		return 1
	}
	return RestartFactor(j.Age(now), j.Restarts, j.RestartOverhead)
}
