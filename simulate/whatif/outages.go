package whatif

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
)

type outages struct {
	nodes    []cluster.Node // owned ones that were there at some time
	here     map[cluster.NodeID]bool
	absences []absence
	losses   []loss
	resuming map[job.ID]int // jobs that have not trained since a loss, and its index
}

type absence struct {
	node     cluster.NodeID
	from, to time.Duration
}

type loss struct {
	job      job.ID
	at       time.Duration
	on       cluster.Placement
	progress float64 // last reported
	kept     bool    // it continued from a later checkpoint
}

func newOutages(c *cluster.Cluster) *outages {
	o := &outages{here: make(map[cluster.NodeID]bool), resuming: make(map[job.ID]int)}
	for _, n := range c.Nodes() {
		if n.Tenure == cluster.Owned {
			o.nodes, o.here[n.ID] = append(o.nodes, n), true
		}
	}
	return o
}

func (o *outages) event(at time.Duration, ev scheduler.Event, jobs map[job.ID]*learned) {
	switch ev := ev.(type) {
	case scheduler.NodesChanged:
		if ev.Cluster != nil {
			o.changed(at, ev.Cluster)
		}
	case scheduler.Exited:
		if j := jobs[ev.Job]; j != nil && ev.Outcome == scheduler.Lost {
			o.resuming[ev.Job] = len(o.losses)
			o.losses = append(o.losses, loss{job: ev.Job, at: at, on: j.on, progress: j.progress})
		}
	case scheduler.Reported:
		if i, ok := o.resuming[ev.Job]; ok && !ev.Profile {
			delete(o.resuming, ev.Job)
			o.losses[i].kept = ev.Progress > o.losses[i].progress
		}
	}
}

func (o *outages) changed(at time.Duration, c *cluster.Cluster) {
	now := make(map[cluster.NodeID]bool)
	for _, n := range c.Nodes() {
		if n.Tenure == cluster.Owned {
			now[n.ID] = true
			o.come(at, n)
		}
	}
	for _, n := range o.nodes {
		if o.here[n.ID] && !now[n.ID] {
			o.absences = append(o.absences, absence{n.ID, at, endlessly})
		}
	}
	o.here = now
}

func (o *outages) come(at time.Duration, n cluster.Node) {
	if !slices.ContainsFunc(o.nodes, func(old cluster.Node) bool { return old.ID == n.ID }) {
		o.nodes = append(o.nodes, n)
		o.absences = append(o.absences, absence{n.ID, 0, endlessly})
	}
	if o.here[n.ID] {
		return
	}
	for i := range o.absences {
		if a := &o.absences[i]; a.node == n.ID {
			a.to = min(a.to, at)
		}
	}
}

func (o *outages) all(c *cluster.Cluster) (*cluster.Cluster, error) {
	nodes := slices.Clone(c.Nodes())
	for _, n := range o.nodes {
		if _, ok := c.Index(n.ID); !ok {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == len(c.Nodes()) {
		return c, nil
	}
	more, err := cluster.New(nodes)
	if err != nil {
		return nil, fmt.Errorf("nodes of the recording: %w", err)
	}
	return more, nil
}

// faults returns the outages for a simulation. A job that lost its GPUs at most a round before one of its nodes
// left, or while it was away, lost them with the node.
func (o *outages) faults(round time.Duration) sim.Faults {
	var f sim.Faults
	kept := make([]bool, len(o.absences))
	for _, l := range o.losses {
		blamed := false
		for i, a := range o.absences {
			on := slices.ContainsFunc(l.on, func(s cluster.Share) bool { return s.Node == a.node })
			if on && a.from <= l.at+round && l.at < a.to {
				blamed, kept[i] = true, kept[i] || l.kept
			}
		}
		if !blamed {
			f.Losses = append(f.Losses, sim.Loss{Job: l.job, At: l.at})
		}
	}
	for i, a := range o.absences {
		if a.from < a.to {
			f.Maintenance = append(f.Maintenance, sim.Window{Nodes: []cluster.NodeID{a.node}, From: a.from, To: a.to, Failed: !kept[i]})
		}
	}
	return f
}
