package afs

import (
	"math"

	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type division struct {
	s    *policy.Snapshot
	r    *grant.Round
	free []int
	all  []contender
}

type contender struct {
	job   *policy.Job
	index int
	left  float64 // remaining progress
	t     int     // of its GPUs, or of those it would get
	gpus  int
	step  int     // GPUs to add; 0: none fit or help
	speed float64 // with gpus
	next  float64 // with gpus + step
}

func newDivision(s *policy.Snapshot, r *grant.Round, free []int) *division {
	d := &division{s: s, r: r, free: append([]int(nil), free...)}
	for i, j := range s.Jobs {
		if r.Decided(i) {
			continue
		}
		c := contender{job: j, index: i, left: math.Inf(1)}
		if left, from := s.Work(j); j.Perf != nil && from > perf.FromAttained {
			c.left = left
		}
		d.all = append(d.all, c)
		d.aim(&d.all[len(d.all)-1])
	}
	return d
}

func (d *division) aim(c *contender) {
	if c.gpus > 0 {
		_, most, step := d.r.Range(c.index, c.t)
		c.step, c.next = 0, 0
		if c.gpus+step <= most && step <= d.free[c.t] {
			c.step, c.next = step, d.speed(c, c.t, c.gpus+step)
		}
		if c.next <= c.speed {
			c.step = 0
		}
		return
	}
	c.step = 0
	for t, info := range d.s.Cluster.Types() {
		least, _, _ := d.r.Range(c.index, t)
		if least == 0 || least > d.free[t] {
			continue
		}
		held := c.job.Holding() && c.job.Allocation.GPUType == info.Type
		if v := d.speed(c, t, least); c.step == 0 || held || v > c.next {
			c.t, c.step, c.next = t, least, v
		}
		if held { // a move would cost a restart
			return
		}
	}
}

func (d *division) speed(c *contender, t, gpus int) float64 {
	if c.job.Perf == nil {
		return float64(gpus)
	}
	v, _ := c.job.Speed(d.r.Amount(c.index, t, gpus))
	return v
}

func (d *division) grow(c *contender) {
	d.free[c.t] -= c.step
	c.gpus, c.speed = c.gpus+c.step, c.next
	d.aim(c)
	for i := range d.all {
		if o := &d.all[i]; o.step > d.free[o.t] {
			d.aim(o)
		}
	}
}

// top returns the job that gets the next GPU. Source: AFS (AFS-L, TopPriority).
func (d *division) top() *contender {
	var best *contender
	for i := range d.all {
		if c := &d.all[i]; c.step > 0 && (best == nil || prefer(c, best)) {
			best = c
		}
	}
	return best
}

func prefer(a, b *contender) bool {
	if a.gpus == 0 && b.gpus == 0 {
		return a.left/a.next < b.left/b.next
	}
	if a.left/a.speed <= b.left/b.speed { // never ends without GPUs
		return !longer(b, a)
	}
	return longer(a, b)
}

func longer(long, short *contender) bool {
	return (long.next-long.speed)/long.next > (short.next-short.speed)/short.speed
}
