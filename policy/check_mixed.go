package policy

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

func (c *checker) second(j *Job, d *Decision, t int) bool {
	k, before := &d.Allocation.Also, len(c.errs)
	u := c.cluster.TypeIndex(k.GPUType)
	switch {
	case u < 0:
		c.fail(j, "GPU type %q is not in the cluster", k.GPUType)
	case u == t:
		c.fail(j, "allocated %v, want a second GPU type, not %s again", d.Allocation, k.GPUType)
	case c.types[t].Counts() || c.types[u].Counts():
		c.fail(j, "allocated %v, want one GPU type: its nodes count CPUs and memory", d.Allocation)
	case !j.Adaptivity.Has(job.Heterogeneous) || j.GPUsPerReplica != nil:
		c.fail(j, "allocated %v, want one GPU type: it is not heterogeneous, or has replicas of several GPUs", d.Allocation)
	case d.Placement == nil:
		c.fail(j, "allocated %v without a placement, want one: placers do not divide a job between types", d.Allocation)
	default:
		c.carried(j, *k, u)
	}
	if len(c.errs) > before {
		return false
	}
	if c.used[u] += k.GPUs; j.NonPreemptive && j.Holding() {
		c.pinned[u] += k.GPUs
	}
	return true
}

func (c *checker) worth(j *Job, a *cluster.Allocation) {
	got, asked := j.Worth(a), max(1, j.GPUs)
	switch {
	case !j.Adaptivity.Has(job.GPUCount):
		if got != float64(asked) {
			c.fail(j, "allocated %v, worth %g GPUs, want exactly %d", *a, got, asked)
		}
	case !j.Enough(a):
		c.fail(j, "allocated %v, worth %g GPUs, want at least %d", *a, got, max(1, j.MinGPUs))
	case j.Spec.MaxGPUs > 0 && got > float64(j.Spec.MaxGPUs):
		c.fail(j, "allocated %v, worth %g GPUs, want at most %d", *a, got, j.Spec.MaxGPUs)
	}
	c.sameType(j, a)
}

func (c *checker) divided(j *Job, d *Decision) {
	k := &d.Allocation.Also
	if got := c.cluster.On(d.Placement, k.GPUType).GPUs(); got != k.GPUs {
		c.fail(j, "placed %d GPUs of type %s, want the %d allocated", got, k.GPUType, k.GPUs)
	}
}
