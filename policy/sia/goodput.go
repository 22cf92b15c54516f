package sia

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
	"github.com/oxgang/oxgang/policy"
)

// A row is one job's row of the goodput matrix. Its columns are the
// configurations the job may ever have: those of the policy that it can use,
// one per GPU type if its GPU count is fixed, its reservation. It is kept from
// round to round and evaluated anew only where the belief behind it changed.
type row struct {
	job     *policy.Job
	columns []configuration
	start   []int                 // by resource: fewest GPUs of a column
	goodput []float64             // per column, not normalised, with as much input as GPUs take; 0: cannot run, -1: not yet asked
	cells   [][]cell              // per column of a type that counts CPUs; nil: not yet asked
	allowed []bool                // per column: within the size limits
	limits  limits                // that allowed is for
	unit    float64               // goodput whose normalised value is N_min
	item    item                  // the row in the program
	pin     cluster.Configuration // what the job gets in this round, whatever it is worth; zero: it chooses
	share   cluster.Resources     // CPUs and memory that it is pinned to
	laid    bool                  // columns are those of this cluster
	seen    int                   // round in which the job was last there
}

// refresh brings the row up to date with its job.
func (p *Policy) refresh(r *row, j *policy.Job) {
	stale := r.job == nil || r.job.Perf != j.Perf || r.job.Limits != j.Limits || r.job.Sensitivity != j.Sensitivity || !r.laid
	r.job = j
	if stale {
		p.lay(r)
	}
	if j.Phase == job.Profiling { // until then the row is not used
		return
	}
	if now := p.limits(j); stale || r.limits != now {
		r.limits, r.item.stale = now, true
		p.allow(r)
		if r.unit == 0 || p.o.Rules.ValidMinimum {
			p.normalise(r)
		}
	}
}

// lay gives the row its columns, of which nothing is known.
func (p *Policy) lay(r *row) {
	r.columns = p.appendColumns(r.columns[:0], r.job)
	r.start = resize(r.start, len(p.cluster.Types()))
	clear(r.start)
	for _, c := range r.columns {
		if n := &r.start[c.resource]; *n == 0 || c.GPUs < *n {
			*n = c.GPUs
		}
	}
	r.goodput = resize(r.goodput, len(r.columns))
	r.allowed = resize(r.allowed, len(r.columns))
	for i := range r.goodput {
		r.goodput[i] = -1
	}
	r.cells = resize(r.cells, len(r.columns))
	clear(r.cells)
	r.unit, r.laid, r.limits = 0, true, limits{}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// appendColumns appends the configurations that a job may ever have.
func (p *Policy) appendColumns(columns []configuration, j *policy.Job) []configuration {
	if j.Adaptivity.Has(job.GPUCount) && j.Reservation.IsZero() {
		for _, c := range p.columns {
			if j.Allows(c.Configuration) && batchAllows(j, c) {
				columns = append(columns, c)
			}
		}
		return columns
	}
	for k, t := range p.cluster.Types() {
		c := t.Fewest(j.Requested(t.Type))
		if r := j.Reservation; !r.IsZero() {
			c = r
		}
		if c.GPUType == t.Type && c.GPUs <= t.GPUs && j.Eligible(t.Type) && c.GPUs%j.ReplicaGPUs(t.Type) == 0 {
			columns = append(columns, configuration{c, k})
		}
	}
	return columns
}

// batchAllows reports whether the job's largest batch feeds every replica of
// c. A job of fixed GPU count gets its batch size and GPUs as submitted; one that is known
// by its duration has no batch that could be too small.
func batchAllows(j *policy.Job, c configuration) bool {
	if j.Timed {
		return true
	}
	most := j.Limits.Max
	if !j.Adaptivity.Has(job.BatchSizes) && j.BatchSize > 0 {
		most = j.BatchSize
	}
	replicas := c.GPUs / j.ReplicaGPUs(c.GPUType)
	return most == 0 || replicas*max(1, j.Limits.LocalMin) <= most
}

// limits are a job's size limits in a round.
type limits struct {
	most    int             // GPUs, unless the count is fixed
	gpuType cluster.GPUType // empty: any
}

// limits returns the size limits of a job: growth, and the GPU type it cannot
// leave. Source: Sia §3.3.1, "Job Scaling policy".
func (p *Policy) limits(j *policy.Job) limits {
	l := limits{most: p.limit(j)}
	if j.Holding() && !j.Adaptivity.Has(job.AnyGPUType) {
		l.gpuType = j.Allocation.GPUType
	}
	return l
}

// allow marks the columns that the size limits permit: no more GPUs than the
// limit, or the fewest of a type, because a job's minimum need not be a
// configuration.
func (p *Policy) allow(r *row) {
	fixed := !r.job.Adaptivity.Has(job.GPUCount)
	for i, c := range r.columns {
		r.allowed[i] = (fixed || c.GPUs <= r.limits.most || r.least(i)) && (r.limits.gpuType == "" || r.limits.gpuType == c.GPUType)
	}
}

// least reports whether column i has the fewest GPUs of its type.
func (r *row) least(i int) bool { return r.columns[i].GPUs == r.start[r.columns[i].resource] }

// limit returns the most GPUs a job may have this round: Growth times what it
// holds, and its minimum if it holds nothing.
func (p *Policy) limit(j *policy.Job) int {
	now := p.holds(j)
	if p.o.Rules.HistoricGrowth {
		now = float64(j.Status.MaxGPUs)
	}
	most := max(1, int(p.o.Growth*now))
	if j.Spec.MaxGPUs > 0 {
		most = min(most, j.Spec.MaxGPUs)
	}
	return most
}

// normalise finds the goodput whose normalised value is N_min: the least of
// the row, so that a job's utility is in units of its slowest way to run. Where
// CPUs and memory count, it is the least at the GPU-proportional share.
// Source: Sia §3.3.4, "Normalized goodput matrix".
func (p *Policy) normalise(r *row) {
	least := math.Inf(1)
	for i := range r.columns {
		if r.allowed[i] {
			least = r.lower(p.fair(r, i), least)
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
	r.unit = least / float64(minGPUs(r))
}

// lower returns the smaller of a goodput, unless it is none, and the least yet.
func (r *row) lower(g, least float64) float64 {
	if g > 0 {
		return min(g, least)
	}
	return least
}

// leastOf returns the least goodput of columns first to end-1, which are of one
// GPU type by ascending GPUs, or the given one if none is less. It asks for as
// few as it can: what holds for the most and the fewest GPUs holds between.
func (p *Policy) leastOf(r *row, first, end int, least float64) float64 {
	switch {
	case end == first:
		return least
	case end-first == 1 && (r.goodput[first] >= 0 || p.floor(r, first, first) < least):
		return r.lower(p.fair(r, first), least)
	case end-first == 1 || p.floor(r, first, end-1) >= least:
		return least
	}
	middle := (first + end) / 2
	return p.leastOf(r, middle, end, p.leastOf(r, first, middle, least))
}

// floor returns no more than the goodput of any of columns first to last, if
// that is cheap to say; otherwise 0.
func (p *Policy) floor(r *row, first, last int) float64 {
	j := r.job
	if j.Perf == nil || j.Goal != job.Training || !j.Adaptivity.Has(job.BatchSizes) || p.limited(r, first) {
		return 0
	}
	a, b := r.replicas(first), r.replicas(last)
	if first == last {
		return perf.Floor(j.Perf, a.Allocation, a.Replicas, j.Limits)
	}
	return perf.FloorBetween(j.Perf, a, b, j.Limits)
}

func (r *row) replicas(i int) perf.Replicas {
	c := r.columns[i].Configuration
	return perf.Replicas{Allocation: cluster.Allocation{Configuration: c}, Replicas: c.GPUs / r.job.ReplicaGPUs(c.GPUType)}
}

// minGPUs returns N_min: the fewest GPUs the job may ever run on, 0 if it can
// run on none.
func minGPUs(r *row) int {
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

// goodputOf returns the believed goodput of column i where the job never waits
// for input.
func (p *Policy) goodputOf(r *row, i int) float64 {
	switch {
	case r.goodput[i] >= 0:
	case r.job.Perf != nil:
		r.goodput[i] = max(0, goodput(r.job, r.columns[i].Configuration))
	case r.least(i) || !r.job.Adaptivity.Has(job.GPUCount):
		r.goodput[i] = 1 // nothing is known: it runs equally well with the fewest GPUs of every type
	default:
		r.goodput[i] = 0
	}
	return r.goodput[i]
}

// goodput returns what a job is believed to achieve with a configuration, in
// samples per second at the efficiency of B0; in samples per second where the
// batch size is fixed, or nothing is trained; 1 or 0 if a latency bound is all
// that counts. Source: Sia §3.3.4.
func goodput(j *policy.Job, c cluster.Configuration) float64 {
	replicas := c.GPUs / j.ReplicaGPUs(c.GPUType)
	a := cluster.Allocation{Configuration: c}
	if j.Goal == job.Training && j.Adaptivity.Has(job.BatchSizes) {
		g, _ := perf.BestBatch(j.Perf, a, replicas, j.Limits)
		return g
	}
	total := j.BatchSize
	if total == 0 || j.Goal != job.Training {
		total = max(total, j.Limits.Init)
	}
	batch := perf.FixedBatch(max(total, replicas), replicas, c.GPUType, j.Limits)
	speed := j.Perf.Throughput(a, batch)
	if j.Goal == job.LatencyBound {
		return meets(j, float64(replicas*batch.PerReplica()), speed)
	}
	return speed
}

// meets returns 1 if a pass over a batch keeps the job's latency bound.
func meets(j *policy.Job, samples, speed float64) float64 {
	if speed > 0 && samples/speed <= j.Latency.Seconds() {
		return 1
	}
	return 0
}
