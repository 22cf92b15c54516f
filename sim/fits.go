package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
)

// Fits returns an error if no part of the cluster could ever run the job. Nodes on loan do
// not count: a job that fits on them only may wait for ever.
func Fits(c *cluster.Cluster, spec *job.Spec) error {
	if !spec.Reservation.IsZero() {
		return reserves(c, spec)
	}
	need, may, worker := math.MaxInt, 0, 0
	for _, t := range c.Kept() {
		if !spec.Eligible(t.Type) {
			continue
		}
		n, m := limits(spec, &t)
		if n <= m {
			return nil
		}
		need, may, worker = min(need, n), max(may, m), max(worker, t.PerNode)
	}
	switch {
	case worker == 0:
		return fmt.Errorf("job %s: the %s has no GPU type that it may use", spec.ID, whose(c))
	case spec.WorkerGPUs > worker:
		return fmt.Errorf("job %s: a worker needs %d GPUs of one node, the largest of the %s that it may use has %d", spec.ID, spec.WorkerGPUs, whose(c), worker)
	}
	err := fmt.Errorf("job %s: needs %d GPUs of one eligible type, can get at most %d", spec.ID, need, may)
	if c.Lends() {
		err = fmt.Errorf("%w of the %s", err, whose(c))
	}
	return err
}

// limits returns the fewest GPUs of a type with which a job runs, and the most that it can be
// given in whole workers.
func limits(spec *job.Spec, t *cluster.TypeInfo) (need, may int) {
	need, may = spec.Min(t.Type), t.GPUs
	if w := spec.WorkerGPUs; w > 0 {
		may = min(may, t.Nodes*(t.PerNode/w)*w)
	}
	switch {
	case !spec.Adaptivity.Has(job.GPUCount):
		need = max(need, spec.Requested(t.Type))
	case spec.MaxGPUs > 0:
		may = min(may, spec.Most(t.Type))
	}
	return need, may
}

// whose names the nodes that count.
func whose(c *cluster.Cluster) string {
	if c.Lends() {
		return "training cluster"
	}
	return "cluster"
}

// reserves returns an error if the cluster does not have what a job reserves.
func reserves(c *cluster.Cluster, spec *job.Spec) error {
	r := spec.Reservation
	has := func(t cluster.TypeInfo) bool {
		return t.Type == r.GPUType && r.Nodes <= t.Nodes && r.GPUs <= min(t.GPUs, r.Nodes*t.PerNode)
	}
	if !spec.Eligible(r.GPUType) || !slices.ContainsFunc(c.Kept(), has) {
		return fmt.Errorf("job %s: reserves %v, which the %s does not have for it", spec.ID, r, whose(c))
	}
	return nil
}
