package sia

import (
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/perf"
	"github.com/oxgang/oxgang/policy"
)

// A cell is a configuration with an amount of CPUs and memory: one entry of the
// job's sensitivity matrix there. Source: Synergy §3.1.
type cell struct {
	cpus    float64     // in total
	memory  int64       // in total, bytes
	goodput float64     // not normalised
	uses    [2]mmkp.Use // CPUs, and memory in GiB
}

// gib is the unit of memory in the program: numbers are then as large as those
// of CPUs, and a power of two loses no digit of them.
const gib = 1 << 30

// A host names the resources of the program that are CPUs and memory of a GPU
// type; zero if its nodes do not count them.
type host struct{ cpus, memory int }

// couple returns the capacities of the coupling resources, GPUs of all types,
// then CPUs, then memory of those types that count them, and where the latter
// are.
func couple(types []cluster.TypeInfo, cells bool) (capacity []float64, hosts []host) {
	hosts = make([]host, len(types))
	for _, t := range types {
		capacity = append(capacity, float64(t.GPUs))
	}
	for k, t := range types {
		if cells && t.Counts() {
			hosts[k].cpus = len(capacity)
			capacity = append(capacity, t.CPUs)
		}
	}
	for k, t := range types {
		if cells && t.Counts() {
			hosts[k].memory = len(capacity)
			capacity = append(capacity, float64(t.Memory)/gib)
		}
	}
	return capacity, hosts
}

// counts reports whether the program has CPUs and memory of GPU type k.
func (p *Policy) counts(k int) bool { return p.hosts[k].cpus > 0 }

// priceOf returns today's prices of GPU type k.
func (p *Policy) priceOf(k int) policy.TypePrice {
	price := policy.TypePrice{Type: p.cluster.Types()[k].Type, Price: p.prices[k]}
	if p.counts(k) {
		price.CPU, price.Memory = p.prices[p.hosts[k].cpus], p.prices[p.hosts[k].memory]*1e9/gib
	}
	return price
}

// fungible reports whether plans choose CPUs and memory of any GPU type.
func (p *Policy) fungible() bool {
	return slices.ContainsFunc(p.hosts, func(h host) bool { return h.cpus > 0 })
}

// sensitive reports whether CPUs and memory are believed to matter to a job.
// Whether a latency bound is kept is not asked anew for every cell: such a job
// gets its share.
func sensitive(j *policy.Job) bool {
	return j.Sensitivity != nil && j.Perf != nil && j.Goal != job.LatencyBound
}

// limited reports whether the goodput of column i depends on CPUs and memory.
func (p *Policy) limited(r *row, i int) bool {
	return p.counts(r.columns[i].resource) && sensitive(r.job)
}

// ways returns the number of cells of column i: one, of nothing, where CPUs and
// memory do not count.
func (p *Policy) ways(r *row, i int) int {
	if !p.counts(r.columns[i].resource) {
		return 1
	}
	return len(p.cellsOf(r, i))
}

// cellsOf returns the cells of column i, of a GPU type that counts, by ascending
// goodput. None is slower than the GPU-proportional share.
func (p *Policy) cellsOf(r *row, i int) []cell {
	if r.cells[i] == nil {
		r.cells[i] = p.layCells(r, i)
	}
	return r.cells[i]
}

// layCells returns column i with each cell that the job may have.
//
// Whole nodes come with all they have: what the job left of it, no other could
// use. A job that never gives GPUs back could never give CPUs back either, so it
// gets no more than its share, beside which others find theirs.
//
// Deviation: a job that is fed less keeps the batch size that is best where
// nothing limits it, so its goodput is too low by what a smaller one would give,
// because the search for it would be repeated for every cell.
func (p *Policy) layCells(r *row, i int) []cell {
	c, j := r.columns[i], r.job
	t, h := &p.cluster.Types()[c.resource], p.hosts[c.resource]
	g, share := p.goodputOf(r, i), t.Proportional(c.Configuration)
	if g == 0 {
		return []cell{}
	}
	if !sensitive(j) {
		return []cell{newCell(share.CPUs, share.Memory, g, h)}
	}
	rate := speed(j, c.Configuration) / float64(c.GPUs)
	matrix := j.Cells(rate, t, (c.GPUs+c.Nodes-1)/c.Nodes)
	if j.NonPreemptive {
		matrix = withinShare(matrix, t)
	}
	if c.GPUs == c.Nodes*t.PerNode && len(matrix) > 0 {
		return []cell{newCell(share.CPUs, share.Memory, g*(matrix[0].Rate/rate), h)}
	}
	cells := make([]cell, 0, len(matrix))
	for _, m := range matrix {
		cells = append(cells, newCell(float64(c.GPUs)*m.CPUs, int64(c.GPUs)*m.Memory, g*(m.Rate/rate), h))
	}
	return cells
}

// withinShare returns the first of a job's cells, which asks for no more than the
// share unless the job does not run with that: then none.
func withinShare(matrix []perf.Cell, t *cluster.TypeInfo) []perf.Cell {
	if len(matrix) > 0 && matrix[0].CPUs <= t.Share.CPUs && matrix[0].Memory <= t.Share.Memory {
		return matrix[:1]
	}
	return nil
}

func newCell(cpus float64, memory int64, goodput float64, h host) cell {
	return cell{cpus, memory, goodput, [2]mmkp.Use{{Resource: h.cpus, Amount: cpus}, {Resource: h.memory, Amount: float64(memory) / gib}}}
}

// speed returns the samples per second that a job takes in with a configuration
// if it never waits for them.
func speed(j *policy.Job, c cluster.Configuration) float64 {
	if j.Goal != job.Training || !j.Adaptivity.Has(job.BatchSizes) {
		return goodput(j, c)
	}
	replicas := c.GPUs / j.ReplicaGPUs(c.GPUType)
	_, b := perf.BestBatch(j.Perf, cluster.Allocation{Configuration: c}, replicas, j.Limits)
	return j.Perf.Throughput(cluster.Allocation{Configuration: c}, b)
}

// fair returns the goodput of column i at the GPU-proportional share; that of
// its slowest cell if the share is too little to run at all.
func (p *Policy) fair(r *row, i int) float64 {
	if !p.limited(r, i) {
		return p.goodputOf(r, i)
	}
	if cells := p.cellsOf(r, i); len(cells) > 0 {
		return cells[0].goodput
	}
	return 0
}

// goodputAt returns the goodput of column i with cell n.
func (p *Policy) goodputAt(r *row, i, n int) float64 {
	if !p.counts(r.columns[i].resource) {
		return p.goodputOf(r, i)
	}
	return p.cellsOf(r, i)[n].goodput
}

// uses returns what column i uses with cell n, besides GPUs.
func (p *Policy) uses(r *row, i, n int) []mmkp.Use {
	if !p.counts(r.columns[i].resource) {
		return nil
	}
	return p.cellsOf(r, i)[n].uses[:]
}

// holds returns the GPUs that a job holds; where it has the CPUs or memory of more,
// as many as that.
//
// Deviation: with the CPUs of eight GPUs on four, a job that waits for input is as
// fast as on eight, because it could otherwise never grow past them to sixteen.
func (p *Policy) holds(j *policy.Job) float64 {
	gpus := float64(j.Allocation.GPUs)
	if k := p.resource(j.Allocation.GPUType); k >= 0 && p.counts(k) {
		share := &p.cluster.Types()[k].Share
		gpus = max(gpus, j.Allocation.CPUs/share.CPUs, float64(j.Allocation.Memory)/float64(share.Memory))
	}
	return gpus
}

// grant returns the allocation of column i with cell n. Where CPUs do not count
// it names none, or those that the job has already.
func (p *Policy) grant(r *row, i, n int) cluster.Allocation {
	a := cluster.Allocation{Configuration: r.columns[i].Configuration}
	switch {
	case p.counts(r.columns[i].resource):
		c := &p.cellsOf(r, i)[n]
		a.CPUs, a.Memory = c.cpus, c.memory
	case a.Configuration == r.job.Allocation.Configuration:
		a = r.job.Allocation
	}
	return a
}

// trim takes back the bytes by which a plan exceeds the memory of a GPU type:
// the program's capacities have a tolerance, memory has none. They are fewer
// than a job notices.
func (p *Policy) trim(plan *policy.Plan, rows []*row) {
	for k, t := range p.cluster.Types() {
		if !p.counts(k) {
			continue
		}
		over, most := -t.Memory, -1
		for i := range plan.Jobs {
			a := &plan.Jobs[i].Allocation
			if a.GPUType != t.Type {
				continue
			}
			over += a.Memory
			if rows[i].pin.IsZero() && (most < 0 || a.Memory > plan.Jobs[most].Allocation.Memory) {
				most = i
			}
		}
		if over > 0 && most >= 0 {
			plan.Jobs[most].Allocation.Memory -= over
		}
	}
}
