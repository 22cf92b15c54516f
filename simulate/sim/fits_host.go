package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

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
