package journal

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

func (dec *decoder) action() scheduler.Action {
	dec.in.want('{')
	start := dec.in.pos
	kind := dec.in.str()
	dec.in.want(':')
	if dec.in.err != nil {
		return nil
	}
	var a scheduler.Action
	switch kind {
	case "run":
		a = dec.run(dec.in.job())
	case "preempt":
		a = scheduler.Preempt{Job: dec.in.job()}
	case "profile":
		a = dec.profile()
	case "compute":
		dec.in.yes()
		a = scheduler.Compute{}
	case "provision":
		p := scheduler.Provision{Group: cluster.Group(dec.in.str())}
		dec.in.want(',')
		dec.in.name("nodes")
		p.Nodes = int(dec.in.count(maxGPUs))
		a = p
	case "return":
		var r scheduler.Return
		for range dec.in.items() {
			r.Nodes = append(r.Nodes, cluster.NodeID(dec.in.str()))
		}
		a = r
	default:
		dec.in.pos = start
		dec.in.fail(`"run", "preempt", "profile", "compute", "provision" or "return"`)
	}
	dec.in.want('}')
	return a
}

func (dec *decoder) profile() scheduler.Action {
	p := scheduler.Profile{Job: dec.in.job()}
	dec.in.want(',')
	dec.in.name("types")
	for range dec.in.items() {
		p.Types = append(p.Types, cluster.GPUType(dec.in.str()))
	}
	return p
}

func (dec *decoder) run(id job.ID) scheduler.Action {
	var d policy.Decision
	free, resized := false, false
	for dec.in.take(',') {
		key := dec.in.str()
		dec.in.want(':')
		switch {
		case dec.granted(key, &d):
		case key == "free":
			free = dec.in.yes()
		case key == "resized":
			resized = dec.in.yes()
		default:
			dec.in.unknown(key)
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
