package goodput

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// A cell is a configuration with an amount of CPUs and memory: one entry of the job's sensitivity matrix there. A
// column whose type does not count CPUs and memory has one empty cell. Source: Synergy §3.1.
type cell struct {
	goodput float64 // not normalised
	cpus    float64 // in total
	memory  int64   // in total, bytes
	uses    []mmkp.Use
}

func (p *Program) evaluate(r *Row) {
	for i := range r.columns {
		if r.allowed[i] || i == r.held {
			p.cellsOf(r, i)
		}
	}
	if r.unit == 0 || p.o.Rules.ValidMinimum {
		p.normalise(r)
	}
}

// normalise finds the unit: the least goodput of the row, at the GPU-proportional share of CPUs and memory, has the
// normalised value N_min. Source: Sia §3.3.4, "Normalized goodput matrix".
func (p *Program) normalise(r *Row) {
	least := math.Inf(1)
	for i := range r.columns {
		if r.allowed[i] {
			least = p.lower(r, i, least)
		}
	}
	if !p.o.Rules.ValidMinimum {
		for first := 0; first < len(r.columns); {
			end := first + 1
			for end < len(r.columns) && r.columns[end].resource == r.columns[first].resource && r.columns[end].GPUs > r.columns[end-1].GPUs {
				end++
			}
			least = p.leastOf(r, first, end, least)
			first = end
		}
	}
	r.fewest = float64(minGPUs(r))
	r.unit = least / r.fewest
}

// lower returns the smaller of least and the goodput of column i at the GPU-proportional share. If the share is too
// little to run, the slowest cell stands in for it.
func (p *Program) lower(r *Row, i int, least float64) float64 {
	if cells := p.cellsOf(r, i); len(cells) > 0 {
		return min(cells[0].goodput, least)
	}
	return least
}

func (p *Program) leastOf(r *Row, first, end int, least float64) float64 {
	switch {
	case end == first:
		return least
	case end-first == 1 && (r.goodput[first] >= 0 || r.floor(first, first) < least):
		return p.lower(r, first, least)
	case end-first == 1 || r.floor(first, end-1) >= least:
		return least
	}
	middle := (first + end) / 2
	return p.leastOf(r, middle, end, p.leastOf(r, first, middle, least))
}

func (r *Row) floor(first, last int) float64 {
	j := r.job
	if j.Perf == nil || j.Goal != job.Training || !j.Adaptivity.Has(job.BatchSizes) || r.limited(first) {
		return 0
	}
	a, b := r.replicas(first), r.replicas(last)
	if first == last {
		return perf.Floor(j.Perf, a.Allocation, a.Replicas, j.Limits)
	}
	return perf.FloorBetween(j.Perf, a, b, j.Limits)
}

func (r *Row) replicas(i int) perf.Replicas {
	c := r.columns[i].Configuration
	return perf.Replicas{Allocation: cluster.Allocation{Configuration: c}, Replicas: c.GPUs / r.job.ReplicaGPUs(c.GPUType)}
}

func minGPUs(r *Row) int {
	j, least := r.job, 0
	for i, c := range r.columns {
		if !r.least(i) {
			continue
		}
		n := c.GPUs
		if j.Adaptivity.Has(job.GPUCount) && j.Reservation.IsZero() {
			n = j.Min(c.GPUType)
		}
		if least == 0 || n < least {
			least = n
		}
	}
	return least
}

func (p *Program) cellsOf(r *Row, i int) []cell {
	if r.cells[i] == nil {
		r.own()
		r.cells[i] = p.layCells(r, i)
		r.lean, r.fast = 0, -1
	}
	return r.cells[i]
}

// layCells computes the cells of column i.
//
// Whole nodes come with all their CPUs and memory, because no other job could use the rest. A job that never gives
// GPUs back could not give CPUs back either, so it gets at most its share.
//
// Deviation: a job with fewer CPUs keeps the batch size that is best without input limits, so its goodput is too
// low, because the search for the batch size would be repeated for every cell.
func (p *Program) layCells(r *Row, i int) []cell {
	c, j := r.columns[i], r.job
	g, speed := r.believed(i)
	r.goodput[i] = g
	t := &p.cluster.Types()[c.resource]
	share := t.Proportional(c.Configuration)
	switch {
	case g == 0:
		return []cell{}
	case !c.host.counts():
		r.plain[i] = cell{goodput: g}
		return r.plain[i : i+1]
	case !r.limited(i):
		return []cell{newCell(c.host, g, share.CPUs, share.Memory)}
	}
	rate := speed / float64(c.GPUs)
	matrix := j.Cells(rate, t, (c.GPUs+c.Nodes-1)/c.Nodes)
	if j.NonPreemptive {
		matrix = withinShare(matrix, t)
	}
	if c.GPUs == c.Nodes*t.PerNode && len(matrix) > 0 {
		return []cell{newCell(c.host, g*(matrix[0].Rate/rate), share.CPUs, share.Memory)}
	}
	cells := make([]cell, 0, len(matrix))
	for _, m := range matrix {
		cells = append(cells, newCell(c.host, g*(m.Rate/rate), float64(c.GPUs)*m.CPUs, int64(c.GPUs)*m.Memory))
	}
	return cells
}

func newCell(h host, goodput, cpus float64, memory int64) cell {
	return cell{goodput, cpus, memory, h.uses(cpus, memory)}
}

func withinShare(matrix []perf.Cell, t *cluster.TypeInfo) []perf.Cell {
	if len(matrix) > 0 && matrix[0].CPUs <= t.Share.CPUs && matrix[0].Memory <= t.Share.Memory {
		return matrix[:1]
	}
	return nil
}

func (r *Row) limited(i int) bool { return r.columns[i].host.counts() && sensitive(r.job) }

// sensitive reports whether CPUs and memory matter to a job. A latency bound is not checked again for every cell;
// such a job gets its share.
func sensitive(j *policy.Job) bool {
	return j.Sensitivity != nil && j.Perf != nil && j.Goal != job.LatencyBound
}

// believed returns the goodput of column i without waits for input (0: it cannot run there), and its speed in samples
// per second.
func (r *Row) believed(i int) (goodput, speed float64) {
	switch {
	case r.job.Perf != nil:
		g, speed := Goodput(r.job, r.columns[i].Configuration)
		return max(0, g), speed
	case r.least(i) || i == r.held || r.untried(i) || !r.job.Adaptivity.Has(job.GPUCount):
		return r.assumed(i), 1
	}
	return 0, 0
}

// assumed returns the goodput of a job without a model on column i. It is 1 on the fewest GPUs of every type, and grows
// with the GPUs up to its request.
func (r *Row) assumed(i int) float64 {
	c, n := &r.columns[i], &r.sizes[r.columns[i].resource]
	return max(1, float64(min(c.GPUs, n.asked))/float64(n.start))
}

// Goodput returns a job's estimated goodput and speed on configuration c, both in samples per second. Goodput counts
// samples at the efficiency of the initial batch size; it equals the speed if the batch size is fixed or the job does
// not train. For a job with a latency limit, goodput is 1 if the limit is met, otherwise 0. Source: Sia §3.3.4.
func Goodput(j *policy.Job, c cluster.Configuration) (goodput, speed float64) {
	replicas := c.GPUs / j.ReplicaGPUs(c.GPUType)
	a := cluster.Allocation{Configuration: c}
	if j.Goal == job.Training && j.Adaptivity.Has(job.BatchSizes) {
		best := perf.FindBatch(j.Perf, a, replicas, j.Limits)
		return best.Goodput, best.Throughput
	}
	total := j.BatchSize
	if total == 0 || j.Goal != job.Training {
		total = max(total, j.Limits.Init)
	}
	batch := perf.FixedBatch(max(total, replicas), replicas, c.GPUType, j.Limits)
	speed = j.Perf.Throughput(a, batch)
	if j.Goal == job.LatencyBound {
		return meets(j, float64(replicas*batch.PerReplica()), speed), speed
	}
	return speed, speed
}

func meets(j *policy.Job, samples, speed float64) float64 {
	if speed > 0 && samples/speed <= j.Latency.Seconds() {
		return 1
	}
	return 0
}
