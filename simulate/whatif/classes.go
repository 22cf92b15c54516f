package whatif

import (
	"slices"
	"time"
)

type class struct {
	// furthest is the job with the most progress.
	furthest *learned
	delay    time.Duration // of all starts together
	delays   int
	used     []float64     // GPU-seconds of each completed job, ascending
	profile  time.Duration // from submission to the end of its profile, of all profiles together
	profiles int
}

const mostUsed = 1000

func (l *Learner) of(j *learned) *class {
	name := j.spec.Class
	if name == "" {
		return nil
	}
	c := l.classes[name]
	if c == nil {
		c = &class{furthest: j}
		l.classes[name] = c
	}
	return c
}

func (c *class) progressed(j *learned) {
	if j == c.furthest || j.progress > c.furthest.progress {
		c.furthest = j
	}
}

func (c *class) completed(j *learned) {
	if j.used <= 0 || len(c.used) >= mostUsed {
		return
	}
	i, _ := slices.BinarySearch(c.used, j.used)
	c.used = slices.Insert(c.used, i, j.used)
}

func (c *class) profiled(took time.Duration) {
	if c != nil {
		c.profile += took
		c.profiles++
	}
}

func (l *Learner) profiling(c *class) time.Duration {
	if c != nil && c.profiles > 0 {
		return c.profile / time.Duration(c.profiles)
	}
	total, n := time.Duration(0), 0
	for _, c := range l.classes {
		total, n = total+c.profile, n+c.profiles
	}
	return total / time.Duration(max(1, n))
}

// remaining returns the median of the remaining GPU-seconds of completed jobs of the class that used more than
// this job. If there are none, it returns what the job has used, as for heavy-tailed durations.
func (c *class) remaining(used float64) float64 {
	if c == nil || len(c.used) == 0 {
		return 0
	}
	i, _ := slices.BinarySearch(c.used, used)
	if longer := c.used[i:]; len(longer) > 0 {
		return longer[(len(longer)-1)/2] - used
	}
	return used
}

func (c *class) coming(j *learned) []piece {
	all := slices.Clone(j.pieces)
	if c == nil || c.furthest == j {
		return all
	}
	next := 0
	if n := len(all); n > 0 {
		next = all[n-1].epoch + 1
	}
	for _, p := range c.furthest.pieces {
		if p.epoch >= next && p.last > j.progress {
			all = append(all, p)
		}
	}
	return all
}

func (c *class) usual() time.Duration {
	if c == nil || c.delays == 0 {
		return 0
	}
	return c.delay / time.Duration(c.delays)
}
