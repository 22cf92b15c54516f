package page

import (
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A Series has the numbers of GPUs and jobs over time. The values of point i apply from At[i] to At[i+1].
type Series struct {
	Begun   time.Time         `json:"begun"`
	At      []journal.Seconds `json:"at"`      // since Begun
	GPUs    []int             `json:"gpus"`    // existing
	Held    []int             `json:"held"`    // held by jobs
	Waiting []int             `json:"waiting"` // jobs without GPUs
	Running []int             `json:"running"` // jobs with GPUs
}

const mostPoints = 2000

// SeriesOf computes the Series of a journal; r must be at its first record. It accepts a truncated journal.
func SeriesOf(r *journal.Reader) (*Series, error) {
	h := r.Header()
	c := counter{held: map[job.ID]int{}}
	c.nodes(h.Cluster.Held())
	for rec, err := range r.Records() {
		if errors.Is(err, journal.ErrTruncated) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("series: %w", err)
		}
		c.take(&rec)
	}
	s := &Series{Begun: h.Start}
	every := 1 + len(c.points)/mostPoints
	for i, p := range c.points {
		if i%every == 0 || i == len(c.points)-1 {
			s.add(p)
		}
	}
	return s, nil
}

func (s *Series) add(p point) {
	s.At, s.GPUs, s.Held = append(s.At, journal.Seconds(p.at)), append(s.GPUs, p.gpus), append(s.Held, p.held)
	s.Waiting, s.Running = append(s.Waiting, p.waiting), append(s.Running, p.running)
}

type point struct {
	at                           time.Duration
	gpus, held, waiting, running int
}

type counter struct {
	held   map[job.ID]int
	now    point
	points []point
}

func (c *counter) nodes(all *cluster.Cluster) {
	c.now.gpus = 0
	for _, t := range all.Types() {
		c.now.gpus += t.GPUs
	}
}

func (c *counter) take(rec *journal.Record) {
	was := c.now
	switch ev := rec.Event.(type) {
	case scheduler.Submitted:
		c.has(ev.Spec.ID, 0)
	case scheduler.Restored:
		if !ev.Status.Phase.Terminal() {
			c.has(ev.Spec.ID, ev.Status.Allocation.AllGPUs())
		}
	case scheduler.NodesChanged:
		c.nodes(ev.Cluster)
	case scheduler.Exited:
		c.leaves(ev.Job)
		if ev.Outcome == scheduler.Lost {
			c.has(ev.Job, 0)
		}
	}
	if rec.Round != nil {
		c.acts(rec.Round.Actions)
	}
	if c.now == was && len(c.points) > 0 {
		return
	}
	p := c.now
	p.at = rec.At
	if n := len(c.points); n > 0 && c.points[n-1].at == p.at {
		c.points[n-1] = p
		return
	}
	c.points = append(c.points, p)
}

func (c *counter) acts(actions []scheduler.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case scheduler.Run:
			c.has(a.Job, a.Allocation.AllGPUs())
		case scheduler.Preempt:
			c.has(a.Job, 0)
		}
	}
}

func (c *counter) has(id job.ID, gpus int) {
	c.leaves(id)
	c.held[id] = gpus
	c.now.held += gpus
	if gpus > 0 {
		c.now.running++
	} else {
		c.now.waiting++
	}
}

func (c *counter) leaves(id job.ID) {
	gpus, known := c.held[id]
	if !known {
		return
	}
	delete(c.held, id)
	c.now.held -= gpus
	if gpus > 0 {
		c.now.running--
	} else {
		c.now.waiting--
	}
}
