package whatif

import (
	"slices"
	"time"
)

// A class is what the jobs of one class teach about those that come after them.
type class struct {
	// furthest is the job that has made the most progress. How its gradient statistics changed from
	// epoch to epoch says how those of the others will change.
	furthest *learned
	delay    time.Duration // of all starts of all jobs together
	delays   int
	used     []float64 // GPU-seconds that each completed job held GPUs, ascending
}

// mostUsed bounds the completed jobs of a class whose durations are kept.
const mostUsed = 1000

// of returns the class of a job; nil if it has none.
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

// progressed records that a job has reported.
func (c *class) progressed(j *learned) {
	if j == c.furthest || j.progress > c.furthest.progress {
		c.furthest = j
	}
}

// completed records the GPU time of a completed job.
func (c *class) completed(j *learned) {
	if j.used <= 0 || len(c.used) >= mostUsed {
		return
	}
	i, _ := slices.BinarySearch(c.used, j.used)
	c.used = slices.Insert(c.used, i, j.used)
}

// left returns the median of the GPU-seconds that the completed jobs of the class which used more
// than this job went on to use. If none did, it returns what the job has used: if durations are
// heavy-tailed, the longer a job has run, the longer it is likely to go on. It returns 0 if no job
// of the class was completed.
func (c *class) left(used float64) float64 {
	if c == nil || len(c.used) == 0 {
		return 0
	}
	i, _ := slices.BinarySearch(c.used, used)
	if longer := c.used[i:]; len(longer) > 0 {
		return longer[len(longer)/2] - used
	}
	return used
}

// coming returns the gradient statistics of a job by epoch: its own, and for the epochs after
// them those of the furthest of its class.
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

// usual returns the mean time of a start of the jobs of the class; 0 if none was measured.
func (c *class) usual() time.Duration {
	if c == nil || c.delays == 0 {
		return 0
	}
	return c.delay / time.Duration(c.delays)
}
