package sia

import (
	"time"

	"github.com/oxgang/oxgang/policy"
)

// RestartFactor returns the factor by which a job's goodput is multiplied in choices that would restart it. For a job
// of age T after N restarts of S each it is (T − N·S) / (T + S), from 0 to 1; 0 if T ≤ 0. Source: Sia §3.3.4, Eq.
// 3.3.
//
// Example: after 1 h with 2 restarts of 3 min each it is (60−6)/(60+3) = 0.86, so the job moves only for
// 1/0.86 = 1.17 times its goodput. A job that restarts often becomes reluctant to move.
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
