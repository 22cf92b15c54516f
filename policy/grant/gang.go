package grant

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// Requested returns the number of GPUs that job j requests, at least 1.
func Requested(j *policy.Job) int { return max(1, j.GPUs) }

// Size returns how many GPUs of type t job j gets when it starts: the number that it requests, or its minimum if it
// requests none.
func Size(j *policy.Job, t cluster.GPUType) int {
	if j.GPUs > 0 {
		return j.Requested(t)
	}
	return j.Min(t)
}

// Usable reports whether job j would fit an empty cluster with its requested GPUs of one type.
func Usable(j *policy.Job, t *cluster.TypeInfo) bool {
	n := Size(j, t.Type)
	return n <= t.GPUs && j.KeepsType(t.Type) && j.Allows(cluster.Configuration{GPUs: n, GPUType: t.Type})
}

func amounts(j *policy.Job, t *cluster.TypeInfo) (least, most, step int) {
	p := j.ReplicaGPUs(t.Type)
	if !j.Adaptivity.Has(job.GPUCount) {
		if !Usable(j, t) {
			return 0, 0, 0
		}
		return Size(j, t.Type), Size(j, t.Type), p
	}
	step = lcm(p, max(1, j.WorkerGPUs))
	least, most = (j.Min(t.Type)+step-1)/step*step, t.GPUs/step*step
	if limit := j.Most(t.Type); limit > 0 {
		most = min(most, limit/step*step)
	}
	if least > most || !j.Eligible(t.Type) || !j.KeepsType(t.Type) {
		return 0, 0, 0
	}
	if j.BatchSize > 1 || j.BatchSize == 1 && j.Spec.Batch.Max != 1 {
		most = max(least, min(most, j.BatchSize*p/step*step))
	}
	return least, most, step
}

func lcm(replica, worker int) int {
	n := replica
	for n%worker != 0 {
		n += replica
	}
	return n
}

// Gang returns the allocation that job j requests, on one GPU type and the fewest nodes.
func Gang(j *policy.Job, t *cluster.TypeInfo) cluster.Allocation {
	return amount(j, t, Size(j, t.Type))
}

func amount(j *policy.Job, t *cluster.TypeInfo, n int) cluster.Allocation {
	c := t.Fewest(n)
	return host(j, t, c)
}

func host(j *policy.Job, t *cluster.TypeInfo, c cluster.Configuration) cluster.Allocation {
	if t.Counts() {
		return t.Proportional(c)
	}
	return cluster.Allocation{Configuration: c, CPUs: j.CPUs, Memory: j.Memory}
}

// Goodput returns the estimated goodput of job j on allocation a, in samples per second at the efficiency of its
// initial batch size. It assumes the submitted batch size, or the agent's choice if none was submitted. It returns 0 if
// j has no model.
func Goodput(j *policy.Job, a cluster.Allocation) float64 {
	if j.Perf == nil {
		return 0
	}
	return perf.Goodput(j.Perf, a, j.Replicas(&a), j.Expected(a, j.AsSubmitted(&a)))
}

// Intake returns how many samples per second each GPU of configuration c can process if it never waits for
// input data, at the batch size that j uses there; 0 if j has no model.
func Intake(j *policy.Job, c cluster.Configuration) float64 {
	return j.Intake(c, j.AsSubmitted(&cluster.Allocation{Configuration: c}))
}

// Cells returns the amounts of CPUs and memory worth giving to job j on configuration c of type t, by ascending speed,
// if at most perNode GPUs share a node. The first is at most the share proportional to GPUs. It is the only one if j's
// speed is unknown, and has rate 0 if j cannot run with that share.
func Cells(j *policy.Job, t *cluster.TypeInfo, c cluster.Configuration, perNode int) []perf.Cell {
	share := t.Proportional(cluster.Configuration{GPUs: 1})
	fair := perf.Cell{CPUs: share.CPUs, Memory: share.Memory}
	rate := Intake(j, c)
	if !(rate > 0) || math.IsInf(rate, 1) {
		return []perf.Cell{fair}
	}
	cells := j.Cells(rate, t, perNode)
	if len(cells) > 0 && cells[0].CPUs <= fair.CPUs && cells[0].Memory <= fair.Memory {
		return cells
	}
	for i := range cells {
		cells[i].CPUs, cells[i].Memory = math.Max(cells[i].CPUs, fair.CPUs), max(cells[i].Memory, fair.Memory)
	}
	return append([]perf.Cell{fair}, cells...)
}
