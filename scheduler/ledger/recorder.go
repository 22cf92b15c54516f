package ledger

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Recorder is a scheduler.Observer that accounts for every GPU-second of a run. An event costs O(pools), a round
// O(active jobs).
type Recorder struct {
	book   func(*Entry)
	period Period // time outside is not booked

	now      time.Time
	boundary time.Time
	length   time.Duration
	prices   []policy.TypePrice
	over     bool // the current round has ended, without active jobs

	cluster  *cluster.Cluster
	pools    []*pool
	returned map[cluster.NodeID]bool // given back, and still there

	active map[job.ID]*account
	ending []*account // jobs that ended in this round and hold their GPUs to its end
	absent *absence   // set after a restart of the scheduler, until all jobs are restored
}

var _ scheduler.Observer = (*Recorder)(nil)

type account struct {
	spec  *job.Spec
	parts []part
	use   Use
	since time.Time // booked until then
	work  work
}

type part struct {
	pool   *pool
	gpus   int
	cpus   float64
	memory int64
	rent   float64
}

// NewRecorder returns a Recorder that calls book with each entry of the ledger; book must not keep the pointer. c has
// the nodes at time start, and the nodes that can be rented or lent. If c is nil, the hours of GPUs are counted from the
// first event NodesChanged on.
func NewRecorder(start time.Time, c *cluster.Cluster, book func(*Entry)) *Recorder {
	return NewRecorderOf(Period{}, start, c, book)
}

// NewRecorderOf is like NewRecorder, but books only the time within period.
func NewRecorderOf(period Period, start time.Time, c *cluster.Cluster, book func(*Entry)) *Recorder {
	r := &Recorder{book: book, period: period, now: start, active: map[job.ID]*account{}, returned: map[cluster.NodeID]bool{}, over: true}
	if c != nil {
		r.setCluster(c.Held())
		r.setRentals(c.Rentals())
	}
	return r
}

// Event implements scheduler.Observer.
func (r *Recorder) Event(now time.Time, ev scheduler.Event) {
	if e, ok := ev.(scheduler.Restored); ok && r.absent != nil {
		r.absent.restored = append(r.absent.restored, e)
		return
	}
	r.advance(now)
	switch ev := ev.(type) {
	case scheduler.Submitted:
		r.open(ev.Spec)
	case scheduler.Described:
		if a := r.active[ev.Spec.ID]; a != nil {
			r.settle(a)
			a.spec = ev.Spec
		}
	case scheduler.Restored:
		r.restore(&ev)
	case scheduler.Reported:
		switch a := r.active[ev.Job]; {
		case a == nil:
		case ev.Profile:
			r.profiled(a.spec, &ev.Report)
		default:
			r.worked(a, &ev.Report)
		}
	case scheduler.Exited:
		if a := r.active[ev.Job]; a != nil {
			r.exited(a, ev.Outcome)
		}
	case scheduler.NodesChanged:
		r.setCluster(ev.Cluster)
		r.setRentals(ev.Rentals)
	}
}

// Round implements scheduler.Observer.
func (r *Recorder) Round(s *policy.Snapshot, p *policy.Plan, actions []scheduler.Action) {
	r.advance(s.Now)
	r.endRound()
	for _, a := range r.active { // the order does not matter
		r.settle(a)
	}
	r.boundary, r.length, r.prices, r.over = s.Now.Add(s.Length), s.Length, p.Prices, false
	r.setCluster(s.Cluster)
	r.setRentals(s.Rentals)
	r.chargeStops(actions)
	for _, act := range actions {
		r.act(act)
	}
}

func (r *Recorder) act(act scheduler.Action) {
	switch act := act.(type) {
	case scheduler.Preempt:
		if a := r.active[act.Job]; a != nil {
			a.work.place(r.now, nil, false)
			r.grant(a, &cluster.Allocation{}, nil)
		}
	case scheduler.Run:
		if a := r.active[act.Job]; a != nil && act.Allocation.AllGPUs() > 0 {
			a.work.place(r.now, act.Placement, a.restarts(&act))
			r.grant(a, &act.Allocation, act.Placement)
		}
	case scheduler.Return:
		for _, id := range act.Nodes {
			r.returned[id] = true
		}
	}
}

// Advance books the time until now. Call it in place of Round if a round has no plan.
func (r *Recorder) Advance(now time.Time) { r.advance(now) }

// Close books the time until the last event or round. If no job is active, the last round counts to its end.
func (r *Recorder) Close() {
	r.endAbsence()
	if len(r.active) == 0 && len(r.ending) > 0 && r.boundary.After(r.now) {
		r.settleNobody(r.boundary)
	}
	r.endRound()
	for _, a := range r.active {
		r.settle(a)
	}
}

func (r *Recorder) advance(now time.Time) {
	r.endAbsence()
	if r.now.IsZero() {
		r.now = now
	}
	if now.After(r.boundary) && len(r.active) == 0 && !r.over {
		r.settleNobody(r.boundary)
		r.endRound()
		r.prices, r.over = nil, true
	}
	r.settleNobody(now)
}

func (r *Recorder) endRound() {
	for _, a := range r.ending {
		r.settle(a)
		a.free()
	}
	r.ending = r.ending[:0]
}

func (r *Recorder) open(spec *job.Spec) {
	if r.active[spec.ID] == nil {
		r.active[spec.ID] = &account{spec: spec, since: r.now, work: work{since: r.now}}
	}
}

func (r *Recorder) exited(a *account, how scheduler.Outcome) {
	r.settle(a)
	if how == scheduler.Lost {
		a.work.place(r.now, nil, false)
		a.free()
		return
	}
	delete(r.active, a.spec.ID)
	a.use = Idle
	r.ending = append(r.ending, a)
}

func (r *Recorder) grant(a *account, has *cluster.Allocation, on cluster.Placement) {
	r.settle(a)
	a.free()
	a.parts = r.partsOf(has, on)
	for _, p := range a.parts {
		p.pool.held += p.gpus
	}
}

func (a *account) free() {
	for _, p := range a.parts {
		p.pool.held -= p.gpus
	}
	a.parts = nil
}

func (r *Recorder) partsOf(has *cluster.Allocation, on cluster.Placement) []part {
	var parts []part
	if len(on) == 0 {
		for _, c := range []cluster.Configuration{has.Configuration, has.Also} {
			parts = r.with(parts, &cluster.Node{GPUType: c.GPUType}, cluster.Resources{GPUs: c.GPUs})
		}
		return parts
	}
	for _, share := range on {
		node := &cluster.Node{GPUType: has.GPUType}
		if r.cluster != nil {
			if i, there := r.cluster.Index(share.Node); there {
				node = &r.cluster.Nodes()[i]
			}
		}
		parts = r.with(parts, node, share.Resources)
	}
	return parts
}

func (r *Recorder) with(parts []part, n *cluster.Node, has cluster.Resources) []part {
	if has.GPUs == 0 {
		return parts
	}
	pool, rent := r.pool(poolOf(n)), 0.0
	if n.Tenure == cluster.Rented {
		rent = float64(has.GPUs) * n.GPUPrice()
	}
	i := slices.IndexFunc(parts, func(p part) bool { return p.pool == pool })
	if i < 0 {
		return append(parts, part{pool, has.GPUs, has.CPUs, has.Memory, rent})
	}
	p := &parts[i]
	p.gpus, p.cpus, p.memory, p.rent = p.gpus+has.GPUs, p.cpus+has.CPUs, p.memory+has.Memory, p.rent+rent
	return parts
}

func (r *Recorder) settle(a *account) {
	d := r.period.overlap(a.since, r.now)
	a.since = r.now
	if d <= 0 {
		return
	}
	for i := range a.parts {
		p := &a.parts[i]
		e := Entry{Job: a.spec, Pool: p.pool.Pool, Use: a.use}
		e.Time, e.Rent = Of(p.gpus, d), p.rent*d.Hours()
		if len(r.prices) > 0 && r.length > 0 {
			e.Priced, e.Paid = e.Time, r.price(p)*d.Seconds()/r.length.Seconds()
		}
		r.book(&e)
	}
}

func (r *Recorder) price(p *part) float64 {
	i := slices.IndexFunc(r.prices, func(t policy.TypePrice) bool { return t.Type == p.pool.Type })
	if i < 0 {
		return 0
	}
	t := &r.prices[i]
	return t.Price*float64(p.gpus) + t.CPU*p.cpus + t.Memory*float64(p.memory)/1e9
}

func (r *Recorder) profiled(spec *job.Spec, rep *job.Report) {
	if rep.Interval <= 0 || !r.period.Has(r.now) {
		return
	}
	e := Entry{Job: spec, Pool: Pool{Type: rep.Configuration.GPUType}, Use: Profiling}
	e.Time = Of(max(1, rep.Configuration.GPUs), rep.Interval)
	r.book(&e)
}
