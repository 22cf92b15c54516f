package multifactor

import (
	"cmp"
	"math"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

func byPriority(a, b place) int { return cmp.Compare(b.priority, a.priority) }

// priority returns a job's priority now, rounded down as in Slurm, so that jobs of nearly equal age
// go by submission.
func (p *Policy) priority(s *policy.Snapshot, j *policy.Job) float64 {
	now := s.Now
	if p.o.Calculated > 0 {
		now = now.Truncate(p.o.Calculated)
	}
	sum := j.Priority + p.o.Age*math.Min(1, math.Max(0, float64(j.Age(now))/float64(p.o.MaxAge)))
	if p.o.JobSize > 0 {
		sum += p.o.JobSize * float64(grant.Requested(j)) / float64(max(1, s.Cluster.GPUs()))
	}
	if p.o.FairShare > 0 {
		sum += p.o.FairShare * p.used.factor(j.User)
	}
	return math.Floor(sum)
}

func limit(j *policy.Job) time.Duration {
	const endless = 365 * 24 * time.Hour
	if !j.Timed || !(j.Target > 0) || j.Target > endless.Seconds() {
		return endless
	}
	return time.Duration(j.Target * float64(time.Second))
}

type usage struct {
	of    map[string]float64
	total float64
	at    time.Time
}

func (u *usage) advance(s *policy.Snapshot, halfLife time.Duration) {
	since := s.Now.Sub(u.at)
	if u.of == nil {
		u.of, since = make(map[string]float64), 0
	}
	u.at = s.Now
	keep := math.Exp2(-float64(since) / float64(halfLife))
	u.total *= keep
	for user := range u.of {
		u.of[user] *= keep
	}
	for _, j := range s.Jobs {
		more := float64(j.Allocation.GPUs) * min(since, s.Now.Sub(j.Since)).Seconds()
		u.of[j.User] += more // users without usage count too
		u.total += more
	}
}

// factor returns 2 to the minus of a user's usage over an equal part of all usage.
func (u *usage) factor(user string) float64 {
	if u.total == 0 {
		return 1
	}
	return math.Exp2(-u.of[user] / u.total * float64(len(u.of)))
}
