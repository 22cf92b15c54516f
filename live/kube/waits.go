package kube

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// reasons corrects a policy that calls a job impossible: the policy sees the cluster without the GPUs of foreign pods,
// and a job that backs off without any GPU type. The caller holds the lock.
type reasons struct {
	jobstate.Reasons
	w *Backend
}

func (r reasons) Reason(id job.ID) string {
	if r.waits(id) != "" {
		return policy.WaitNoCapacity.String()
	}
	return r.Reasons.Reason(id)
}

func (r reasons) Text(id job.ID) string {
	if why := r.waits(id); why != "" {
		return why
	}
	return r.Reasons.Text(id)
}

// waits returns "" if the policy is right.
func (r reasons) waits(id job.ID) string {
	e := r.w.table.ByID[id]
	if e == nil || r.Reasons.Reason(id) != policy.Impossible.String() {
		return ""
	}
	switch {
	case e.Nowhere != "":
		return e.Nowhere
	case slices.Contains(e.Spec.GPUTypes, nowhere):
		return "it is tried again after a failure: " + e.Setback
	}
	return r.w.occupied(e.Spec)
}

func (w *Backend) occupied(spec *job.Spec) string {
	s := w.latest.observation
	if s == nil {
		return ""
	}
	for _, t := range w.extent.types {
		all, left := gpusFor(s.Whole, t, spec), gpusFor(s.Nodes, t, spec)
		if spec.Eligible(t) && all >= spec.Min(t) && left < spec.Min(t) {
			return fmt.Sprintf("it needs %s; the empty nodes of the queue have %d for it, and pods outside the plan or closed nodes leave %d", printable.Count(spec.Min(t), string(t)+" GPU"), all, left)
		}
	}
	return ""
}

func gpusFor(nodes []cluster.Node, t cluster.GPUType, spec *job.Spec) (n int) {
	each := max(1, spec.WorkerGPUs)
	for i := range nodes {
		if nodes[i].GPUType == t {
			n += nodes[i].Capacity.GPUs / each * each
		}
	}
	return n
}
