package journal

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

func (c *cursor) action() scheduler.Action {
	c.want('{')
	start := c.pos
	kind := c.str()
	c.want(':')
	if c.err != nil {
		return nil
	}
	var a scheduler.Action
	switch kind {
	case "run":
		a = c.run(c.job())
	case "preempt":
		a = scheduler.Preempt{Job: c.job()}
	case "profile":
		a = c.profile()
	case "compute":
		c.yes()
		a = scheduler.Compute{}
	case "provision":
		p := scheduler.Provision{Group: cluster.Group(c.str())}
		c.want(',')
		c.name("nodes")
		p.Nodes = int(c.count(maxGPUs))
		a = p
	case "return":
		var r scheduler.Return
		for range c.items() {
			r.Nodes = append(r.Nodes, cluster.NodeID(c.str()))
		}
		a = r
	default:
		c.pos = start
		c.fail(`"run", "preempt", "profile", "compute", "provision" or "return"`)
	}
	c.want('}')
	return a
}

func (c *cursor) profile() scheduler.Action {
	p := scheduler.Profile{Job: c.job()}
	c.want(',')
	c.name("types")
	for range c.items() {
		p.Types = append(p.Types, cluster.GPUType(c.str()))
	}
	return p
}

func (c *cursor) run(id job.ID) scheduler.Action {
	var d policy.Decision
	free, resized := false, false
	for c.take(',') {
		key := c.str()
		c.want(':')
		switch {
		case c.granted(key, &d):
		case key == "free":
			free = c.yes()
		case key == "resized":
			resized = c.yes()
		default:
			c.unknown(key)
		}
	}
	return scheduler.Run{Job: id, Allocation: d.Allocation, Placement: d.Placement, Batch: d.Batch, Free: free, Resized: resized}
}

func equal(a, b scheduler.Action) bool {
	switch a := a.(type) {
	case scheduler.Run:
		b, ok := b.(scheduler.Run)
		return ok && a.Job == b.Job && a.Allocation == b.Allocation && a.Placement.Equal(b.Placement) &&
			a.Batch == b.Batch && a.Free == b.Free && a.Resized == b.Resized
	case scheduler.Profile:
		b, ok := b.(scheduler.Profile)
		return ok && a.Job == b.Job && slices.Equal(a.Types, b.Types)
	case scheduler.Return:
		b, ok := b.(scheduler.Return)
		return ok && slices.Equal(a.Nodes, b.Nodes)
	case scheduler.Compute:
		return computes(b)
	}
	return a == b // Preempt, Provision, or nil
}

func computes(a scheduler.Action) bool {
	_, ok := a.(scheduler.Compute)
	return ok
}

func apart(a scheduler.Action) bool { return a.Topic().Job == "" }
