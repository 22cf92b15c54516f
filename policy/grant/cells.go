package grant

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// Intake returns how many samples per second each GPU of configuration c can process if it never waits for
// input data, at the batch size that j uses there; 0 if j has no model.
func Intake(j *policy.Job, c cluster.Configuration) float64 {
	return j.Intake(c, j.AsSubmitted(&cluster.Allocation{Configuration: c}))
}

// Cells returns the amounts of CPUs and memory that are worth giving to job j on configuration c of type t, if at most
// perNode GPUs share a node. They are sorted by ascending speed. The first amount is at most the share proportional to
// GPUs. If j's speed is unknown, that share is the only amount. If j cannot run with that share, it comes first, with
// rate 0.
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
