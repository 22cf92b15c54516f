package grant

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// Intake returns the samples per second that each GPU of c takes in where it
// never waits for input, as believed, with the batch size that j trains with in
// line; 0 if j has no model.
func Intake(j *policy.Job, c cluster.Configuration) float64 {
	return j.Intake(c, j.AsSubmitted(&cluster.Allocation{Configuration: c}))
}

// Cells returns the cells of j's sensitivity matrix on c, GPUs of type t of which at
// most perNode share what a node has, by ascending rate, CPUs and memory; there is
// at least one, and the first is within the GPU-proportional share. Where nothing is
// known of j's speed it is the share. Where j does not run with its share it is the
// share too, at rate 0, and the others ask for no less than the share of anything.
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
