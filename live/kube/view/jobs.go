package view

import (
	"cmp"
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
