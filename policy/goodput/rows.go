package goodput

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

type sizes struct {
	start int // fewest GPUs of a column
	asked int // fewest GPUs of a column of at least the request, or else the most; 0: not used
}

// A Row has the goodput of one job on every configuration that it may ever get. Each of these configurations is a
// column. A job with a fixed number of GPUs has one column per GPU type; a job with a reservation has only the reserved
// configuration. Rows persist between rounds. The caller of Plan sets the exported fields.
type Row struct {
	// Worth converts the job's goodputs into worths in this round.
	Worth Worth
	// Jobs with a lower Level choose their GPUs first. Keeps lets the job claim all the GPUs that it holds, not only
	// those it requested.
	Level int
	Keeps bool
	// Claim is the goodput that the job must get in this round; zero: none.
	Claim Claim
	// Stays lets the job keep its GPUs, because a restart would lose its work.
	Stays bool
	// Tenant has a share of the cluster, which other tenants may borrow while its jobs do not need it; nil: none.
	Tenant *Tenant

	firm    bool // pinned to its claim
	evicted bool // claims nothing in this round, because it blocks a job of an earlier level

	job     *policy.Job
	columns []configuration
	sizes   []sizes   // by resource
	goodput []float64 // per column, not normalised, without input limits; 0: cannot run, -1: not yet computed
	cells   [][]cell  // per allowed or held column, by ascending goodput; nil: not yet computed
	plain   []cell    // per column: its cell if CPUs and memory do not count
	allowed []bool    // per column: within the size limits
	limits  limits    // that allowed was computed for
	held    int       // column that the job holds; -1: none
	unit    float64   // goodput whose normalised value is N_min
	fewest  float64
	peak    float64 // 0: not yet computed
	lean    float64 // 0: not yet computed
	fast    float64 // -1: not yet computed
	item    item
	pin     configuration // fixed allocation in this round; zero: it chooses
	share   cluster.Resources
	laid    bool // columns belong to this cluster
	shared  bool // columns and their slices belong to another row, too
	seen    int
	like    *Row // earlier row of this round that it was copied from, until Peaks; nil: none
}

func (p *Program) refreshRows(s *policy.Snapshot) []*Row {
	rows := make([]*Row, len(s.Jobs))
	var stale []staleRow
	for i, j := range s.Jobs {
		r := p.rows[j.ID]
		if r == nil {
			r = &Row{}
			p.rows[j.ID] = r
		}
		if t := p.compare(r, j); t.row != nil {
			stale = append(stale, t)
		}
		r.seen = s.Round
		rows[i] = r
	}
	p.refreshAll(stale)
	p.gone = p.gone[:0]
	if len(p.rows) == len(rows) {
		return rows
	}
	for id, r := range p.rows {
		if r.seen != s.Round {
			delete(p.rows, id)
			p.gone = append(p.gone, r)
		}
	}
	// By number, so that equal runs assign equal numbers.
	slices.SortFunc(p.gone, func(a, b *Row) int { return cmp.Compare(a.item.number, b.item.number) })
	return rows
}

type staleRow struct {
	row   *Row
	other bool
	model bool
}

func (p *Program) compare(r *Row, j *policy.Job) staleRow {
	other := r.job == nil || r.job.Spec != j.Spec || r.job.Limits != j.Limits || !r.laid
	model := other || r.job.Perf != j.Perf || r.job.Sensitivity != j.Sensitivity ||
		j.Perf == nil && r.limits.held != j.Allocation.Configuration // the estimates then depend on what it holds
	r.job = j
	now := r.limits
	if j.Phase != job.Profiling {
		now = p.limits(j)
	}
	if !model && r.limits == now {
		return staleRow{}
	}
	return staleRow{r, other, model}
}

func (p *Program) refresh(t staleRow) {
	r := t.row
	r.own()
	r.lean, r.fast, r.like = 0, -1, nil
	if t.other {
		p.lay(r)
	}
	if t.model {
		r.forget()
	}
	if r.job.Phase == job.Profiling {
		return
	}
	r.limits, r.item.stale = p.limits(r.job), true
	p.allow(r)
	p.evaluate(r)
}

func (p *Program) lay(r *Row) {
	r.columns = p.appendColumns(r.columns[:0], r.job)
	r.sizes = resize(r.sizes, len(p.cluster.Types()))
	clear(r.sizes)
	for _, c := range r.columns {
		n := &r.sizes[c.resource]
		if n.start == 0 || c.GPUs < n.start {
			n.start = c.GPUs
		}
		if p.o.Start > 0 && n.asked < r.job.Requested(c.GPUType) {
			n.asked = c.GPUs // in ascending order
		}
	}
	r.goodput = resize(r.goodput, len(r.columns))
	r.allowed = resize(r.allowed, len(r.columns))
	r.cells = resize(r.cells, len(r.columns))
	r.plain = resize(r.plain, len(r.columns))
	r.laid = true
}

func (r *Row) forget() {
	for i := range r.goodput {
		r.goodput[i] = -1
	}
	clear(r.cells)
	r.unit, r.peak, r.limits = 0, 0, limits{}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func (rs *resources) appendColumns(columns []configuration, j *policy.Job) []configuration {
	if j.Adaptivity.Has(job.GPUCount) && j.Reservation.IsZero() {
		for _, run := range rs.runs {
			columns = appendRun(columns, run, j)
		}
		return rs.holdableOf(columns, j)
	}
	for k, t := range rs.cluster.Types() {
		c := t.Fewest(j.Requested(t.Type))
		if r := j.Reservation; !r.IsZero() {
			c = r
		}
		if c.GPUType == t.Type && c.GPUs <= t.GPUs && j.Eligible(t.Type) && c.GPUs%j.ReplicaGPUs(t.Type) == 0 {
			columns = append(columns, configuration{c, k, rs.hosts[k]})
		}
	}
	return rs.holdableOf(columns, j)
}

func (rs *resources) holdableOf(columns []configuration, j *policy.Job) []configuration {
	if len(j.Parts) == 0 {
		return columns
	}
	return slices.DeleteFunc(columns, func(c configuration) bool {
		return c.Configuration != j.Allocation.Configuration && !rs.holdable(j, &c)
	})
}

func appendRun(columns, run []configuration, j *policy.Job) []configuration {
	if len(run) == 0 || !j.Eligible(run[0].GPUType) {
		return columns
	}
	least, most := j.Min(run[0].GPUType), run[len(run)-1].GPUs
	if j.Spec.MaxGPUs > 0 {
		most = min(most, j.Most(run[0].GPUType))
	}
	from, _ := slices.BinarySearchFunc(run, least, func(c configuration, n int) int { return cmp.Compare(c.GPUs, n) })
	for _, c := range run[from:] {
		if c.GPUs > most || !batchAllows(j, c) {
			break
		}
		if j.Allows(c.Configuration) {
			columns = append(columns, c)
		}
	}
	return columns
}

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

type limits struct {
	most    int             // GPUs, unless the count is fixed
	gpuType cluster.GPUType // empty: any
	held    cluster.Configuration
}

// limits returns the size limits of a job: growth, and the GPU type it cannot leave. Source: Sia §3.3.1, "Job Scaling
// policy".
func (p *Program) limits(j *policy.Job) limits {
	l := limits{most: p.limit(j), held: j.Allocation.Configuration}
	if j.Holding() && !j.Adaptivity.Has(job.AnyGPUType) {
		l.gpuType = j.Allocation.GPUType
	}
	return l
}

func (p *Program) limit(j *policy.Job) int {
	now := p.holds(j)
	if p.o.Rules.HistoricGrowth {
		now = float64(j.Status.MaxGPUs)
	}
	most := max(1, p.o.Start, int(p.o.Growth*now))
	if j.Spec.MaxGPUs > 0 {
		most = min(most, j.Spec.MaxGPUs)
	}
	return most
}

// holds returns the GPUs that a job holds, or more if it has the CPUs or memory of more.
//
// Deviation: a job counts as holding the GPUs whose CPUs or memory it has, because with the CPUs of eight GPUs on
// four, a job that waits for input is as fast as on eight, and could otherwise never grow past them to sixteen.
func (rs *resources) holds(j *policy.Job) float64 {
	gpus := float64(j.Allocation.GPUs)
	for k := range rs.hosts {
		if t := &rs.cluster.Types()[k]; t.Type == j.Allocation.GPUType && rs.hosts[k].counts() {
			gpus = max(gpus, j.Allocation.CPUs/t.Share.CPUs, float64(j.Allocation.Memory)/float64(t.Share.Memory))
		}
	}
	return gpus
}

// allow sets held, and marks the columns within the size limits: at most the limit, or the fewest of a type, because
// a job's minimum need not be a configuration. If a job may more than double, only powers of two of nodes are allowed
// beyond that, because each size costs a search for its batch size.
func (p *Program) allow(r *Row) {
	fixed, near := !r.job.Adaptivity.Has(job.GPUCount), r.limits.most
	if p.o.Growth > 2 {
		near = 2 * max(1, r.limits.held.GPUs)
	}
	for i, c := range r.columns {
		size := fixed || r.least(i) || r.untried(i) || c.GPUs <= r.limits.most && (c.GPUs <= near || c.Nodes&(c.Nodes-1) == 0)
		r.allowed[i] = size && (r.limits.gpuType == "" || r.limits.gpuType == c.GPUType)
	}
	r.held = slices.IndexFunc(r.columns, func(c configuration) bool { return c.Configuration == r.limits.held })
}

// untried reports whether column i has the requested GPUs of a job without a model. If no configuration has just as
// many, the next larger one counts, or else the largest. It is false if jobs start on their fewest GPUs (Options.Start).
func (r *Row) untried(i int) bool {
	return r.job.Perf == nil && r.columns[i].GPUs == r.sizes[r.columns[i].resource].asked
}

func (r *Row) least(i int) bool { return r.columns[i].GPUs == r.sizes[r.columns[i].resource].start }

// Job returns the row's job.
func (r *Row) Job() *policy.Job { return r.job }

// Columns returns the number of configurations of the row.
func (r *Row) Columns() int { return len(r.columns) }

// Column returns the configuration of column i.
func (r *Row) Column(i int) cluster.Configuration { return r.columns[i].Configuration }

// Holds returns the column of the configuration that the job holds, or -1 if it holds none.
func (r *Row) Holds() int { return r.held }

// Allowed reports whether the job may get the configuration of column i in this round.
func (r *Row) Allowed(i int) bool { return r.allowed[i] }

// Unit returns the goodput by which the row is divided to normalise it. It is 0 if not yet computed, and +Inf if the
// job can run on no configuration.
func (r *Row) Unit() float64 { return r.unit }

// pinned reports whether the job's allocation is fixed in this round.
func (r *Row) pinned() bool { return !r.pin.IsZero() }

// Goodput returns the goodput on the configuration of column i with the CPUs and memory at which the job is fastest. It
// is 0 if the job cannot run there or the column was not evaluated.
func (r *Row) Goodput(i int) float64 {
	cells := r.cells[i]
	if len(cells) == 0 {
		return 0
	}
	return cells[len(cells)-1].goodput
}

// Share returns the approximate goodput on gpus GPUs of the cluster's k-th type. It is the goodput of the largest
// evaluated column with at most gpus GPUs. If even the smallest column has more GPUs, its goodput is scaled down in
// proportion. It is 0 if no column of the type is evaluated.
func (r *Row) Share(k int, gpus float64) float64 {
	at := -1
	for i := range r.columns {
		c := &r.columns[i]
		if c.resource > k || c.resource == k && at >= 0 && float64(c.GPUs) > gpus {
			break
		}
		if c.resource == k && len(r.cells[i]) > 0 {
			at = i
		}
	}
	if at < 0 {
		return 0
	}
	return r.Goodput(at) * min(1, gpus/float64(r.columns[at].GPUs))
}

// Potential returns the highest goodput among the evaluated columns with at most gpus GPUs of type t.
func (r *Row) Potential(t cluster.GPUType, gpus int) (most float64) {
	for k := range r.columns {
		if c := &r.columns[k]; c.GPUType == t && c.GPUs <= gpus {
			most = max(most, r.Goodput(k))
		}
	}
	return most
}

// Reaching returns the column with the fewest GPUs of type t whose goodput is at least rate. Only allowed columns with
// at most gpus GPUs count. If no column reaches rate, it returns the fastest. ok is false if the job can run on no
// column.
func (r *Row) Reaching(t cluster.GPUType, gpus int, rate float64) (column int, ok bool) {
	column = -1
	for k := range r.columns {
		if c := &r.columns[k]; c.GPUType == t && c.GPUs <= gpus && r.allowed[k] && (column < 0 || r.Goodput(column) < min(rate, r.Goodput(k))) {
			column = k
		}
	}
	return column, column >= 0 && r.Goodput(column) > 0
}

// Leanest returns the lowest GPU time that a unit of progress (a sample) takes, in GPU-seconds, over the evaluated
// columns. It is +Inf if the job can run on none.
func (r *Row) Leanest() float64 {
	if r.lean == 0 {
		r.lean = math.Inf(1)
		for k := range r.columns {
			if g := r.Goodput(k); g > 0 {
				r.lean = min(r.lean, float64(r.columns[k].GPUs)/g)
			}
		}
	}
	return r.lean
}

// Fastest returns the highest goodput among the configurations that the job may get in this round, or 0 if there are
// none.
func (r *Row) Fastest() float64 {
	if r.fast < 0 {
		r.fast = 0
		for k := range r.columns {
			if r.allowed[k] {
				r.fast = max(r.fast, r.Goodput(k))
			}
		}
	}
	return r.fast
}

// Peak returns the job's highest goodput if its number of GPUs could grow to the maximum at once, instead of by
// Options.Growth per round.
func (p *Program) Peak(r *Row) float64 {
	if r.peak > 0 {
		return r.peak
	}
	for i := range r.columns {
		if last := i+1 == len(r.columns) || r.columns[i+1].resource != r.columns[i].resource; last || r.allowed[i] {
			p.cellsOf(r, i)
			r.peak = max(r.peak, r.Goodput(i))
		}
	}
	return r.peak
}
