package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Fits returns an error if cluster c could never run the job: too few GPUs, CPUs or memory. Nodes on loan do not count,
// because a job that needs them might wait for ever.
func Fits(c *cluster.Cluster, spec *job.Spec) error {
	if !spec.Reservation.IsZero() {
		return reserves(c, spec)
	}
	need, may, worker := math.MaxInt, 0, 0
	var host error // of a type with enough GPUs
	for _, t := range c.TypesNotOnLoan() {
		if !spec.Eligible(t.Type) {
			continue
		}
		n, m := limits(spec, &t)
		if n <= m {
			err := hosts(c, spec, &t, most(spec, n, m))
			if err == nil {
				return nil
			}
			host = cmp.Or(host, err)
		}
		need, may, worker = min(need, n), max(may, m), max(worker, t.PerNode)
	}
	switch {
	case host != nil:
		return host
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

// limits returns the fewest GPUs of a type on which a job runs, and the most in the cluster.
// Workers are whole, each on one node.
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

func most(spec *job.Spec, need, may int) int {
	if !spec.Adaptivity.Has(job.GPUCount) {
		return need
	}
	return may
}

func whose(c *cluster.Cluster) string {
	if c.Lends() {
		return "training cluster"
	}
	return "cluster"
}

func reserves(c *cluster.Cluster, spec *job.Spec) error {
	r := spec.Reservation
	i := slices.IndexFunc(c.TypesNotOnLoan(), func(t cluster.TypeInfo) bool {
		return t.Type == r.GPUType && r.Nodes <= t.Nodes && r.GPUs <= min(t.GPUs, r.Nodes*t.PerNode)
	})
	if i < 0 || !spec.Eligible(r.GPUType) {
		return fmt.Errorf("job %s: reserves %v, which the %s does not have for it", spec.ID, r, whose(c))
	}
	return hosts(c, spec, &c.TypesNotOnLoan()[i], r.GPUs)
}

func hosts(c *cluster.Cluster, spec *job.Spec, t *cluster.TypeInfo, gpus int) error {
	if !(spec.CPUs > 0 || spec.Memory > 0) || !t.Counts() {
		return nil
	}
	nodes := min(t.Nodes, gpus/max(1, spec.WorkerGPUs))
	if !spec.Reservation.IsZero() {
		nodes = spec.Reservation.Nodes
	}
	has := largest(c, t.Type, nodes)
	if spec.CPUs <= has.CPUs*(1+hostSlack) && spec.Memory <= has.Memory {
		return nil
	}
	return fmt.Errorf("job %s: requests %g CPUs and %d bytes of memory, nodes of the %s have at most %g and %d for its %d GPUs of %s",
		spec.ID, spec.CPUs, spec.Memory, whose(c), has.CPUs, has.Memory, gpus, t.Type)
}

const hostSlack = 1e-9

func largest(c *cluster.Cluster, t cluster.GPUType, nodes int) (sum cluster.Resources) {
	var cpus []float64
	var memory []int64
	for i := range c.Nodes() {
		if n := &c.Nodes()[i]; n.GPUType == t && n.Tenure != cluster.Loaned {
			cpus, memory = append(cpus, n.Capacity.CPUs), append(memory, n.Capacity.Memory)
		}
	}
	slices.SortFunc(cpus, func(a, b float64) int { return cmp.Compare(b, a) })
	slices.SortFunc(memory, func(a, b int64) int { return cmp.Compare(b, a) })
	for i := range min(nodes, len(cpus)) {
		sum.CPUs, sum.Memory = sum.CPUs+cpus[i], sum.Memory+memory[i]
	}
	return sum
}
