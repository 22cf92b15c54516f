package pollux

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

type round struct {
	p      *Policy
	m      *memory
	s      *policy.Snapshot
	plan   *policy.Plan
	types  []cluster.TypeInfo
	slots  []slot
	free   []int   // neither pinned nor reserved
	held   []bool  // by a pinned or reserved distributed job
	seats  []*seat // least attained service first
	room   []int   // repair: free by slot
	owner  []bool  // repair: slot has a distributed job
	order  []int   // repair: slots in random order
	used   []int   // mutate: by slot
	jobsAt []int   // mutate: by slot
}

type seat struct {
	job      *policy.Job
	index    int
	belief   *belief
	usable   []bool
	anywhere bool
	keepTerm float64 // fitness if its GPUs stay
	most     int     // the most GPUs it may have in this round
	gang     bool
	fair     float64
	factor   float64
	base     []int // present GPUs by slot
	partial  bool  // some cannot be kept
}

func (p *Policy) newRound(s *policy.Snapshot, m *memory) *round {
	n := len(m.slots)
	r := &round{
		p: p, m: m, s: s, types: s.Cluster.Types(), slots: m.slots, plan: &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))},
		free: make([]int, n), held: make([]bool, n), room: make([]int, n), owner: make([]bool, n), order: make([]int, n),
		used: make([]int, n), jobsAt: make([]int, n),
	}
	for i, at := range m.slots {
		r.free[i], r.order[i] = at.gpus, i
	}
	return r
}

func (r *round) lineUp() {
	jobs := 0
	for i, j := range r.s.Jobs {
		if j.Phase != job.Profiling {
			jobs++
		}
		if r.plan.Jobs[i].Why.Kind != policy.Unexplained {
			continue
		}
		t := &seat{job: j, index: i, gang: isGang(j, r.types)}
		if t.usable = r.usable(j); !slices.Contains(t.usable, true) {
			r.plan.Jobs[i].Why = policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: max(1, j.GPUs, j.MinGPUs)}}
			continue
		}
		t.anywhere = !slices.Contains(t.usable, false)
		r.seats = append(r.seats, t)
	}
	slices.SortStableFunc(r.seats, func(a, b *seat) int {
		return cmp.Compare(a.job.AttainedGPUService(r.s.Now), b.job.AttainedGPUService(r.s.Now))
	})
	left := slices.Clone(r.free)
	for _, t := range r.seats {
		j := t.job
		t.belief = r.p.believe(r.s, j)
		t.most = r.most(j)
		t.fair = r.fairShare(t, jobs)
		t.factor = reallocFactor(j.Age(r.s.Now), j.Restarts, j.RestartOverhead)
		t.base = r.base(t, left)
		t.keepTerm = r.term(t, t.base)
	}
}

func isGang(j *policy.Job, types []cluster.TypeInfo) bool {
	return !j.Adaptivity.Has(job.GPUCount) ||
		slices.ContainsFunc(types, func(t cluster.TypeInfo) bool { return j.Min(t.Type) > 1 || j.ReplicaGPUs(t.Type) > 1 })
}

func (r *round) usable(j *policy.Job) []bool {
	all := make([]bool, len(r.types))
	for k, t := range r.types {
		n := least(j, t.Type)
		all[k] = j.Eligible(t.Type) && j.KeepsType(t.Type) && n <= t.GPUs && n%j.ReplicaGPUs(t.Type) == 0 &&
			(!j.Adaptivity.Has(job.GPUCount) || j.Spec.MaxGPUs == 0 || n <= j.Most(t.Type))
	}
	return all
}

func least(j *policy.Job, t cluster.GPUType) int {
	if !j.Adaptivity.Has(job.GPUCount) {
		return j.Requested(t)
	}
	p := j.ReplicaGPUs(t)
	return (max(1, j.Min(t)) + p - 1) / p * p
}

// most returns Growth times the most GPUs so far, capped by the job's limits and the smallest type. Source: Pollux
// §4.1.
func (r *round) most(j *policy.Job) int {
	n := int(r.p.o.Growth * float64(max(j.Status.MaxGPUs, j.Allocation.GPUs)))
	if j.Spec.MaxGPUs > 0 {
		n = min(n, j.Spec.MaxGPUs)
	}
	if l := j.BatchLimits(); l.Max > 0 && j.Adaptivity.Has(job.BatchSizes) {
		n = min(n, l.Max/max(1, l.LocalMin)*j.ReplicaGPUs(firstType(j, r.types)))
	}
	for _, t := range r.types {
		n = min(n, t.GPUs)
	}
	return max(1, n)
}

// fairShare returns a job's goodput with an exclusive 1/J of the GPUs, at least a replica, on few virtual nodes.
// Source: Pollux §4.2.
func (r *round) fairShare(t *seat, jobs int) float64 {
	replica := t.job.ReplicaGPUs(t.belief.reference)
	gpus := (r.s.Cluster.GPUs() + jobs - 1) / jobs
	if t.job.Spec.MaxGPUs > 0 {
		gpus = min(gpus, t.job.Spec.MaxGPUs)
	}
	on := func(gpus int) float64 {
		return t.belief.at(t.job, (gpus+r.slots[0].gpus-1)/r.slots[0].gpus, gpus)
	}
	for ; gpus > replica; gpus /= 2 { // a batch size limit may be lower
		if g := on(gpus); g > 0 {
			return g
		}
	}
	return max(on(replica), math.SmallestNonzeroFloat32)
}

func (r *round) base(t *seat, left []int) []int {
	row := make([]int, len(r.slots))
	if !t.job.Holding() {
		return row
	}
	if g := r.m.granted[t.job.ID]; g != nil && r.placement(g).SameGPUs(t.job.Placement) && take(left, g) {
		return slices.Clone(g)
	}
	t.partial = !r.lay(row, t.job.Placement, left)
	return row
}

func take(free, row []int) bool {
	for k, v := range row {
		if v > free[k] {
			return false
		}
	}
	for k, v := range row {
		free[k] -= v
	}
	return true
}

// speedup returns SPEEDUP_j. Source: Pollux §4.2.
func (t *seat) speedup(nodes, gpus int) float64 { return t.belief.at(t.job, nodes, gpus) / t.fair }

func (r *round) shape(t *seat, row []int) (nodes, gpus int, moved bool) {
	more := 0
	moved = t.partial
	for i, v := range row {
		if v > 0 {
			nodes++
			gpus += v
		}
		if more += v - t.base[i]; r.slots[i].last {
			moved = moved || more != 0
			more = 0
		}
	}
	return nodes, gpus, moved
}

const starved = 1e-3

// fitness returns the power mean of the speedups. Source: Pollux §4.2.
func (r *round) fitness(x []int) float64 {
	n, sum := len(r.slots), 0.0
	for i, t := range r.seats {
		if row := x[i*n : (i+1)*n]; slices.Equal(row, t.base) {
			sum += t.keepTerm
		} else {
			sum += r.term(t, row)
		}
	}
	return power(sum/float64(len(r.seats)), 1/r.p.o.P)
}

func (r *round) term(t *seat, row []int) float64 {
	nodes, gpus, moved := r.shape(t, row)
	v := t.speedup(nodes, gpus)
	if moved {
		v *= t.factor
	}
	return power(v+starved, r.p.o.P)
}

func power(x, p float64) float64 {
	if p == -1 {
		return 1 / x
	}
	return math.Pow(x, p)
}

type settler struct{ *round }

// settleDown undoes needless moves after a change of nodes: equal GPUs and virtual nodes. Jobs in their place
// start elsewhere.
func (r settler) settleDown(x []int) {
	if !r.m.changed {
		return
	}
	if y := slices.Clone(x); r.stay(y) && r.displace(y) {
		copy(x, y)
	}
}

func (r settler) stay(x []int) bool {
	copy(r.room, r.free)
	copy(r.owner, r.held)
	n := len(r.slots)
	for i, t := range r.seats {
		row := x[i*n : (i+1)*n]
		if !r.stays(t, row) {
			continue
		}
		copy(row, t.base)
		if !take(r.room, row) {
			return false
		}
		mark(r.owner, row)
	}
	return true
}

func (r settler) stays(t *seat, row []int) bool {
	nodes, gpus, _ := r.shape(t, row)
	before, held, _ := r.shape(t, t.base)
	return !t.partial && gpus > 0 && nodes == before && gpus == held
}

func (r settler) displace(x []int) bool {
	n := len(r.slots)
	for i, t := range r.seats {
		row := x[i*n : (i+1)*n]
		if r.stays(t, row) {
			continue
		}
		if many := distributed(row); many && r.meets(row) || !take(r.room, row) && (many || !r.shift(row)) {
			return false
		}
	}
	return true
}

func (r settler) shift(row []int) bool {
	from := slices.IndexFunc(row, positive)
	for k, at := range r.slots {
		if at.typeIndex == r.slots[from].typeIndex && r.room[k] >= row[from] {
			row[k], row[from] = row[from], 0
			return take(r.room, row)
		}
	}
	return false
}
