package view

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A Job is a job of a queue: what exists of it, and what the last plan has for it.
type Job struct {
	Queue string `json:"queue"`
	// State is waits, starts, runs or stops; empty: its pods cannot be seen.
	State    string    `json:"state,omitempty"`
	Observed *Observed `json:"observed,omitempty"`
	// Since is from when on it waits, as far as is known.
	Since time.Time `json:"waitingSince,omitzero"`
	// Planned: a plan has it.
	Planned bool `json:"planned"`
	Allocation
}

// Jobs returns the jobs of a namespace, of all if it is empty: by queue, then as the plans have them;
// those that no plan has come last. What the user may not see of them is left out; plansErr says
// why there are no plans.
func (k *Kubectl) Jobs(ctx context.Context, namespace string, plans []Plan, plansErr error) ([]Job, error) {
	all := Jobs(plans, namespace)
	c, err := k.cluster(ctx, namespace)
	if err != nil {
		if plansErr == nil && unseen(err) {
			return all, nil
		}
		return nil, firstOf(plansErr, err)
	}
	observed, at := c.observed(), make(map[string]int)
	for i := range all {
		at[all[i].UID] = i
		all[i].observe(nil, observed[all[i].UID])
	}
	over := make(map[string]bool) // by uid: since the plan was made
	for i := range c.objects {
		o := &c.objects[i]
		if o.ended() != "" {
			over[o.Meta.UID] = true
			continue
		}
		if o.Meta.Labels[queueLabel] == "" || o.part() {
			continue
		}
		j, planned := at[o.Meta.UID]
		if !planned {
			j = len(all)
			all = append(all, Job{Queue: o.Meta.Labels[queueLabel], Allocation: Allocation{UID: o.Meta.UID, Kind: o.Kind, Namespace: o.Meta.Namespace, Name: o.Meta.Name}})
		}
		all[j].observe(o, observed[o.Meta.UID])
	}
	all = slices.DeleteFunc(all, func(j Job) bool { return over[j.UID] })
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.Queue, b.Queue) })
	return all, nil
}

// observe fills in what exists of a job; o is nil if its object is not seen.
func (j *Job) observe(o *object, seen *Observed) {
	if seen == nil {
		seen = new(Observed)
	}
	j.Observed = seen
	switch suspended := o != nil && o.Spec.Suspend; {
	case seen.Pods == 0:
		j.State = "waits"
	case suspended:
		j.State = "stops"
	case seen.Ready < seen.Pods:
		j.State = "starts"
	default:
		j.State = "runs"
	}
	if o == nil {
		return
	}
	if j.State == "waits" {
		j.Since = o.waits()
	}
	if c := conditionOf(o.Status.Conditions, scheduled); c != nil && j.Reason == "" {
		j.Reason, j.Message = c.Reason, c.Message
	}
}

// waits returns since when a job without pods waits: since it was made, or was last suspended.
func (o *object) waits() time.Time {
	since := o.Meta.Created
	if c := conditionOf(o.Status.Conditions, "Suspended"); c != nil && c.Status == "True" && c.Changed.After(since) {
		since = c.Changed
	}
	return since
}

// Jobs returns the jobs of plans that are in a namespace, or in any if it is empty: by
// queue, then as the plans have them.
func Jobs(plans []Plan, namespace string) []Job {
	var all []Job
	for i := range plans {
		for _, a := range plans[i].Spec.Allocations {
			if namespace == "" || a.Namespace == namespace {
				all = append(all, Job{Queue: plans[i].Meta.Name, Planned: true, Allocation: a})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.Queue, b.Queue) })
	return all
}

// Nodes returns what a plan gave away, by name of the node.
func (p *Plan) Nodes() []Node {
	at := make(map[string]int)
	var all []Node
	for i := range p.Spec.Allocations {
		a := &p.Spec.Allocations[i]
		for _, s := range a.Nodes {
			n, ok := at[s.Name]
			if !ok {
				n, at[s.Name] = len(all), len(all)
				all = append(all, Node{Name: s.Name, Queue: p.Meta.Name, GPUType: a.GPUType})
			}
			all[n].Used += s.GPUs
			all[n].Jobs = append(all[n].Jobs, a.Namespace+"/"+a.Name)
		}
	}
	slices.SortFunc(all, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// firstOf returns the first error; nil: there is none.
func firstOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
