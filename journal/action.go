package journal

import (
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
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
	if kind == "compute" {
		c.yes()
		c.want('}')
		return scheduler.Compute{}
	}
	id := c.job()
	var a scheduler.Action
	switch kind {
	case "run":
		a = c.run(id)
	case "preempt":
		a = scheduler.Preempt{Job: id}
	case "profile":
		c.want(',')
		c.name("types")
		p := scheduler.Profile{Job: id}
		for range c.items() {
			p.Types = append(p.Types, cluster.GPUType(c.str()))
		}
		a = p
	default:
		c.pos = start
		c.fail(`"run", "preempt", "profile" or "compute"`)
	}
	c.want('}')
	return a
}

// run reads what follows the job in a Run.
func (c *cursor) run(id job.ID) scheduler.Action {
	var d policy.Decision
	free := false
	for c.take(',') {
		key := c.str()
		c.want(':')
		switch {
		case c.granted(key, &d):
		case key == "free":
			free = c.yes()
		default:
			c.unknown(key)
		}
	}
	return scheduler.Run{Job: id, Allocation: d.Allocation, Placement: d.Placement, Batch: d.Batch, Free: free}
}

// subject returns the job an action is about, if it is about one.
func subject(a scheduler.Action) job.ID {
	switch a := a.(type) {
	case scheduler.Run:
		return a.Job
	case scheduler.Preempt:
		return a.Job
	case scheduler.Profile:
		return a.Job
	}
	return ""
}

// equal reports whether two actions, either of them perhaps nil, are the same.
func equal(a, b scheduler.Action) bool {
	switch a := a.(type) {
	case scheduler.Run:
		b, ok := b.(scheduler.Run)
		return ok && a.Job == b.Job && a.Allocation == b.Allocation && a.Placement.Equal(b.Placement) &&
			a.Batch == b.Batch && a.Free == b.Free
	case scheduler.Profile:
		b, ok := b.(scheduler.Profile)
		return ok && a.Job == b.Job && slices.Equal(a.Types, b.Types)
	case scheduler.Compute:
		return computes(b)
	}
	return a == b // Preempt, or nil
}

// computes reports whether an action starts background work.
func computes(a scheduler.Action) bool {
	_, ok := a.(scheduler.Compute)
	return ok
}
