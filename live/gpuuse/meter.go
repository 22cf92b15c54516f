package gpuuse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// idleAfter is how long a job may leave all its GPUs idle until it needs a person.
const idleAfter = 30 * time.Minute

const (
	idleShare = 0.05      // a GPU that computes no more than this share of the time is idle
	missed    = 3         // reads without a GPU until it counts as gone
	forgotten = time.Hour // until the use of an absent job, or a GPU that is gone, is dropped
)

// A Meter adds measured use to status documents, and adds up for how long jobs leave their GPUs idle. Its methods may be
// called concurrently.
type Meter struct {
	read  Read
	every time.Duration

	mu      sync.Mutex
	samples []Sample // latest
	at      time.Time
	passed  time.Duration // since the samples before; 0 if these were too long ago, or not counted
	fresh   bool          // samples are not counted yet
	err     error
	gpus    map[string]*seen
	jobs    map[job.ID]*idleness
}

type seen struct {
	last   time.Time
	joules float64
	node   string
	name   string
}

type idleness struct {
	hours  float64
	logged float64   // of hours, by Append
	since  time.Time // all its GPUs were idle in every sample from then on; zero: not now
	start  time.Time // status.Job.Since
	last   time.Time // in a status
}

// NewMeter returns a Meter that reads the GPUs every period, while Follow runs.
func NewMeter(read Read, every time.Duration) *Meter {
	return &Meter{read: read, every: every, gpus: make(map[string]*seen), jobs: make(map[job.ID]*idleness)}
}

// Follow reads the GPUs until ctx is done, and calls after when it has read them. Between two reads somebody must call
// Attach: what was measured before is otherwise not counted.
func (m *Meter) Follow(ctx context.Context, after func()) {
	for {
		samples, err := m.read(ctx)
		m.take(samples, err, time.Now())
		after()
		select {
		case <-ctx.Done():
			return
		case <-time.After(m.every):
		}
	}
}

func (m *Meter) take(samples []Sample, err error, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err = err; err != nil {
		return
	}
	passed := at.Sub(m.at)
	if m.passed = passed; passed > missed*m.every || passed < 0 || m.fresh {
		m.passed = 0
	}
	m.samples, m.at, m.fresh = samples, at, true
	for i := range samples {
		m.saw(&samples[i])
	}
}

// saw remembers a GPU, and computes its power from its energy if only that is known. The counter of energy begins again
// when the driver restarts.
func (m *Meter) saw(s *Sample) {
	key := s.Node + " " + s.UUID
	was := m.gpus[key]
	if was == nil {
		was = &seen{joules: math.NaN()}
		m.gpus[key] = was
	}
	if math.IsNaN(s.Watts) && m.passed > 0 {
		s.Watts = within((s.Joules-was.joules)/m.passed.Seconds(), mostWatts)
	}
	was.last, was.joules, was.node, was.name = m.at, s.Joules, s.Node, s.usage().GPU
}

// Attach adds what is measured to a status: the use of the GPUs of nodes, the idle GPU-hours of jobs, jobs that leave
// their GPUs idle, and GPUs that are gone. It changes the nodes and jobs of s. owner returns the job that holds a GPU, or
// ""; it may be nil.
func (m *Meter) Attach(s *status.Status, owner func(*Sample) job.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		s.Notes = append(slices.Clip(s.Notes), "The use of GPUs is not known: "+printable.Line(m.err.Error()))
	}
	if m.at.IsZero() {
		return
	}
	if s.At.Sub(m.at) <= missed*m.every {
		counts := m.nodes(s, owner)
		if m.fresh {
			m.count(s, counts)
		}
		m.fresh = false
		s.Attention = append(slices.Clip(s.Attention), m.gone(s)...)
	}
	m.mark(s)
}

type count struct{ held, idle, busy int }

func (m *Meter) nodes(s *status.Status, owner func(*Sample) job.ID) map[job.ID]*count {
	of := make(map[string][]*Sample)
	for i := range m.samples {
		name := Host(m.samples[i].Node)
		of[name] = append(of[name], &m.samples[i])
	}
	counts := make(map[job.ID]*count)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		samples := of[Host(n.Name)]
		if s.Backend == status.Machine {
			samples = of[""]
		}
		n.Use = nil
		for _, one := range samples {
			u := one.usage()
			if u.Job = slotJob(n, one.UUID); u.Job == "" && owner != nil {
				u.Job = owner(one)
			}
			n.Use = append(n.Use, u)
		}
		for _, h := range n.Held {
			if counts[h.Job] == nil {
				counts[h.Job] = new(count)
			}
			counts[h.Job].add(n, &h)
		}
	}
	return counts
}

// Host returns the first part of a host name, in lower case.
func Host(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return strings.ToLower(name)
}

func slotJob(n *status.Node, uuid string) job.ID {
	for i := range n.Slots {
		if n.Slots[i].Visible == uuid && n.Slots[i].Job != "" {
			return n.Slots[i].Job
		}
	}
	return ""
}

// add counts the GPUs of a job on a node. If it is not known which GPUs the job has, as many of them are idle as there
// must be if all busy and unmeasured GPUs of the node were its own.
func (c *count) add(n *status.Node, h *status.Holder) {
	c.held += h.GPUs
	own, idle, busy, others := 0, 0, 0, 0
	for i := range n.Use {
		u := &n.Use[i]
		works := u.Busy == nil || *u.Busy > idleShare
		if works {
			others++
		}
		if u.Job == h.Job {
			if own++; !works {
				idle++
			} else if u.Busy != nil {
				busy++
			}
		}
	}
	if own == 0 {
		idle = max(0, h.GPUs-others-max(0, n.GPUs-len(n.Use)))
		busy = h.GPUs - idle
	}
	c.idle, c.busy = c.idle+min(idle, h.GPUs), c.busy+busy
}

func (m *Meter) count(s *status.Status, counts map[job.ID]*count) {
	for i := range s.Jobs {
		j := &s.Jobs[i]
		c, was := counts[j.ID], m.jobs[j.ID]
		if c == nil {
			continue
		}
		if was == nil {
			was = &idleness{start: j.Since}
			m.jobs[j.ID] = was
		}
		was.hours += float64(c.idle) * m.passed.Hours()
		again := m.passed == 0 || !was.start.Equal(j.Since)
		switch {
		case c.idle == 0 || c.busy > 0 || c.idle < c.held:
			was.since = time.Time{}
		case was.since.IsZero() || again:
			was.since = m.at
		}
		was.start = j.Since
	}
}

// mark sets the idle GPU-hours of jobs, and the trouble of jobs that leave their GPUs idle.
func (m *Meter) mark(s *status.Status) {
	for _, jobs := range [][]status.Job{s.Jobs, s.Ended} {
		for i := range jobs {
			j := &jobs[i]
			was := m.jobs[j.ID]
			if was == nil {
				continue
			}
			was.last = s.At
			j.IdleHours = math.Round(1000*was.hours) / 1000
			if idle := m.at.Sub(was.since); !was.since.IsZero() && j.Holds() && idle >= idleAfter && j.Trouble == "" {
				j.Trouble = fmt.Sprintf("holds %s that have been idle for %s", printable.GPUs(j.GPUs, string(j.GPUType)), printable.Short(idle.Truncate(time.Minute)))
				if j.GPUs == 1 {
					j.Trouble = strings.Replace(j.Trouble, "that have been", "that has been", 1)
				}
			}
		}
	}
	for id, was := range m.jobs {
		if s.At.Sub(was.last) > forgotten {
			delete(m.jobs, id)
		}
	}
}

// gone returns a sentence for each GPU that is no longer measured although other GPUs of its node are.
func (m *Meter) gone(s *status.Status) (all []string) {
	measured := make(map[string]string)
	for i := range s.Nodes {
		if len(s.Nodes[i].Use) > 0 {
			measured[Host(s.Nodes[i].Name)] = s.Nodes[i].Name
		}
	}
	for key, g := range m.gpus {
		absent := m.at.Sub(g.last)
		node := measured[Host(g.node)]
		if s.Backend == status.Machine {
			node = s.Title
		}
		switch {
		case absent > 24*forgotten:
			delete(m.gpus, key)
		case absent >= missed*m.every && node != "":
			all = append(all, fmt.Sprintf("GPU %s of %s has not reported since %s", g.name, printable.Named("node", node), g.last.UTC().Format("2006-01-02 15:04 UTC")))
		}
	}
	slices.Sort(all)
	return all
}
