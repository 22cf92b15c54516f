package page

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A Series has the numbers of GPUs and jobs over time. Values of index i apply from At[i] to At[i+1].
type Series struct {
	Begun   time.Time         `json:"begun"`
	At      []journal.Seconds `json:"at"`      // since Begun
	GPUs    []int             `json:"gpus"`    // existing
	Held    []int             `json:"held"`    // held by jobs
	Waiting []int             `json:"waiting"` // jobs without GPUs
	Running []int             `json:"running"` // jobs with GPUs
}

const mostPoints = 2000

type past struct {
	series   *Series
	timeline *status.Timeline
}

// pastOf reads a journal; r must be at its first record. It accepts a truncated journal.
func pastOf(r *journal.Reader) (*past, error) {
	h, last := r.Header(), time.Duration(0)
	c := counter{held: map[job.ID]int{}, begun: h.Start}
	c.nodes(h.Cluster.Held())
	for rec, err := range r.Records() {
		if errors.Is(err, journal.ErrTruncated) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("past: %w", err)
		}
		c.take(&rec)
		last = rec.At
	}
	s := &Series{Begun: h.Start}
	every := 1 + len(c.points)/mostPoints
	for i, p := range c.points {
		if i%every == 0 || i == len(c.points)-1 {
			s.add(p)
		}
	}
	return &past{s, c.tracks.timeline(h.Start, last)}, nil
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
	begun  time.Time
	held   map[job.ID]int
	up     map[cluster.NodeID]bool
	now    point
	points []point
	tracks tracks
}

func (c *counter) nodes(all *cluster.Cluster) {
	up := make(map[cluster.NodeID]bool, len(all.Nodes()))
	c.now.gpus = all.GPUs()
	for i := range all.Nodes() {
		id := all.Nodes()[i].ID
		if up[id] = true; c.up != nil && !c.up[id] {
			c.tracks.node(c.now.at, string(id), status.Joined)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.up)) {
		if !up[id] {
			c.tracks.node(c.now.at, string(id), status.Left)
		}
	}
	c.up = up
}

func (c *counter) take(rec *journal.Record) {
	c.now.at = rec.At
	was := c.now
	switch ev := rec.Event.(type) {
	case scheduler.Submitted:
		c.submitted(ev.Spec, rec.At)
	case scheduler.Restored:
		c.restored(&ev)
	case scheduler.NodesChanged:
		c.nodes(ev.Cluster)
	case scheduler.Exited:
		c.leaves(ev.Job)
		c.tracks.step(ev.Job, "", status.Step{At: whole(rec.At), What: status.What(ev.Outcome.String())})
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
			c.tracks.holds(a.Job, "", c.now.at, a.Allocation.AllGPUs())
		case scheduler.Preempt:
			c.has(a.Job, 0)
			c.tracks.holds(a.Job, "", c.now.at, 0)
		}
	}
}

func (c *counter) submitted(spec *job.Spec, at time.Duration) {
	c.has(spec.ID, 0)
	c.tracks.step(spec.ID, spec.User, status.Step{At: whole(at), What: status.Submitted})
}

func (c *counter) restored(ev *scheduler.Restored) {
	if ev.Status.Phase.Terminal() {
		return
	}
	gpus := ev.Status.Allocation.AllGPUs()
	c.has(ev.Spec.ID, gpus)
	c.tracks.step(ev.Spec.ID, ev.Spec.User, status.Step{At: whole(ev.Status.Submitted.Sub(c.begun)), What: status.Submitted})
	if gpus > 0 {
		c.tracks.holds(ev.Spec.ID, "", ev.Status.Since.Sub(c.begun), gpus)
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
