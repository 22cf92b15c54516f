package policytest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A World is a random simulated cluster whose jobs arrive, run, fail and end over rounds. If nothing about a job
// changed, its row is the same pointer as before.
type World struct {
	cluster    *cluster.Cluster
	all        *cluster.Cluster // with nodes that are away or down
	down       func(cluster.NodeID) bool
	market     market
	loans      []cluster.Loan
	jobs       []*policy.Job // by submission, then ID; immutable
	round      int
	born       int
	controller controller
	outcome    outcome // of work before this round
}

// NewWorld draws a World in which some jobs already run and others wait.
func NewWorld(t *rapid.T) *World {
	return newWorld(t, Clusters().Draw(t, "cluster"), market{})
}

func newWorld(t *rapid.T, c *cluster.Cluster, m market) *World {
	w := &World{all: c, market: m, loans: c.Loans()}
	w.failNodes(func(cluster.NodeID) bool { return false })
	for i := range w.loans {
		w.loans[i].Lent = w.there(w.loans[i].Group)
		w.review(t, &w.loans[i])
	}
	for range rapid.IntRange(0, 10).Draw(t, "jobs") {
		w.submit(t, -w.age(t))
	}
	free := w.free()
	for i, j := range w.jobs {
		if rapid.Bool().Draw(t, "runs already") {
			w.jobs[i] = w.begin(t, j, free)
		}
	}
	return w
}

func (w *World) age(t *rapid.T) time.Duration {
	if len(w.loans) > 0 && oneIn(t, 4, "waits for days") {
		return 50 * time.Hour
	}
	return time.Duration(rapid.IntRange(0, 90).Draw(t, "age in minutes")) * time.Minute
}

// Now returns the time of the next round.
func (w *World) Now() time.Time { return Epoch.Add(time.Duration(w.round) * time.Minute) }

// Snapshot returns the snapshot of the next round.
func (w *World) Snapshot() *policy.Snapshot {
	return &policy.Snapshot{Now: w.Now(), Round: w.round, Length: time.Minute, Cluster: w.cluster, Jobs: slices.Clone(w.jobs), Computed: w.controller.computed, Rentals: w.rentals(), Loans: slices.Clone(w.loans)}
}

func (w *World) submit(t *rapid.T, at time.Duration) {
	j := newJob(t, w.all, job.ID(fmt.Sprintf("j%02d", w.born)))
	w.born++
	if len(w.loans) > 0 {
		w.needs(t, j.Spec)
	}
	j.Submitted = w.Now().Add(at)
	j.Since = j.Submitted
	if oneIn(t, 5, "being profiled") {
		j.Phase, j.Perf = job.Profiling, nil
	}
	w.jobs = append(w.jobs, j)
	slices.SortFunc(w.jobs, func(a, b *policy.Job) int {
		return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.ID, b.ID))
	})
}

func (w *World) free() []cluster.Resources {
	free := make([]cluster.Resources, len(w.cluster.Nodes()))
	for i, n := range w.cluster.Nodes() {
		free[i] = n.Capacity
	}
	for _, j := range w.jobs {
		w.take(free, j.Placement)
	}
	return free
}

func (w *World) take(free []cluster.Resources, p cluster.Placement) {
	for _, s := range p {
		i, _ := w.cluster.Index(s.Node)
		f := &free[i]
		f.GPUs, f.CPUs, f.Memory = f.GPUs-s.GPUs, f.CPUs-s.CPUs, f.Memory-s.Memory
	}
}

func (w *World) begin(t *rapid.T, j *policy.Job, free []cluster.Resources) *policy.Job {
	types := w.cluster.Types()
	if len(types) == 0 {
		return j
	}
	info := &types[rapid.IntRange(0, len(types)-1).Draw(t, "runs on")]
	a := cluster.Allocation{Configuration: j.Reservation, CPUs: j.CPUs, Memory: j.Memory}
	if a.IsZero() {
		gpus := j.Requested(info.Type)
		if j.Adaptivity.Has(job.GPUCount) {
			gpus = j.Min(info.Type) * rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "grown")
		}
		a.Configuration = info.Fewest(gpus)
	}
	row := *j
	row.Phase, row.Allocation = rapid.SampledFrom([]job.Phase{job.Running, job.Restoring}).Draw(t, "phase"), a
	row.FirstStarted, row.Since, row.Restarts = j.Submitted, w.Now().Add(-time.Minute), rapid.IntRange(0, 5).Draw(t, "restarts")
	row.Status.MaxGPUs, row.Progress = a.GPUs, j.Target*rapid.Float64Range(0, 1).Draw(t, "progress")
	plan := &policy.Plan{Jobs: []policy.Decision{{Allocation: a}}}
	alone := &policy.Snapshot{Cluster: w.cluster, Jobs: []*policy.Job{j}}
	if j.Phase == job.Profiling || policy.Check(alone, plan) != nil {
		return j
	}
	if row.Placement = w.place(free, a); row.Placement == nil {
		return j
	}
	return &row
}

func (w *World) place(free []cluster.Resources, a cluster.Allocation) cluster.Placement {
	var p cluster.Placement
	left := a.GPUs
	put := func(least int) {
		for i, n := range w.cluster.Nodes() {
			room := 0
			if n.GPUType == a.GPUType {
				room = fit(&a, &n.Capacity, &free[i])
			}
			if g := min(left, room); g > 0 && room >= least {
				r := cluster.Resources{GPUs: g, CPUs: a.CPUs * float64(g) / float64(a.GPUs)}
				r.Memory = a.Memory*int64(left)/int64(a.GPUs) - a.Memory*int64(left-g)/int64(a.GPUs)
				p = append(p, cluster.Share{Node: n.ID, Resources: r})
				left -= g
			}
		}
	}
	if put(left); left > 0 {
		put(1)
	}
	if left > 0 {
		return nil
	}
	w.take(free, p)
	p.Sort()
	return p
}

func fit(a *cluster.Allocation, has, free *cluster.Resources) int {
	room := free.GPUs
	if has.CPUs > 0 && a.CPUs > 0 {
		room = min(room, int(free.CPUs*float64(a.GPUs)/a.CPUs*(1+1e-9)))
	}
	if has.CPUs > 0 && a.Memory > 0 {
		room = min(room, int(free.Memory*int64(a.GPUs)/a.Memory))
	}
	return room
}

// Advance carries out plan p, which must have passed policy.Check, and lets a minute pass. In this minute
// jobs report, end, are profiled and arrive, and nodes fail and are repaired. A job without a new placement
// keeps its nodes if its allocation is unchanged.
//
// Nodes are rented and returned in later rounds, but a node is not returned while a job uses it. Reclaimed
// nodes are taken when due, even with jobs. Background work ends in a later round, or fails.
func (w *World) Advance(t *rapid.T, p *policy.Plan) {
	w.outcome = outcome{}
	if w.controller.busy(p) {
		w.outcome = drawOutcome(t)
	}
	w.controller.advance(p, w.outcome)
	w.carryOut(p)
	w.rent(t, p)
	w.round++
	w.lend(t, p)
	for i, j := range w.jobs {
		w.jobs[i] = w.live(t, j)
	}
	w.jobs = slices.DeleteFunc(w.jobs, func(j *policy.Job) bool {
		return j.Holding() && oneIn(t, 6, "completes")
	})
	if oneIn(t, 5, "nodes change") {
		w.changeNodes(t)
	}
	for range rapid.IntRange(0, 2).Draw(t, "arrivals") {
		w.submit(t, 0)
	}
}

func (w *World) carryOut(p *policy.Plan) {
	before := slices.Clone(w.jobs)
	for i, j := range before {
		if j.Holding() && !keeps(j, &p.Jobs[i], p.Return) {
			w.jobs[i] = w.stop(j)
		}
	}
	for i, j := range before {
		if d := &p.Jobs[i]; w.jobs[i].Holding() && (d.Allocation != j.Allocation || d.Placement != nil && !d.Placement.Equal(j.Placement)) {
			w.jobs[i] = w.change(j, d)
		}
	}
	for i := range before {
		if d := &p.Jobs[i]; !w.jobs[i].Holding() && d.Placement != nil {
			w.start(i, d, d.Placement)
		}
	}
	free := w.free()
	for _, id := range p.Return {
		n, _ := w.cluster.Index(id)
		free[n] = cluster.Resources{}
	}
	for i := range before {
		if d := &p.Jobs[i]; !w.jobs[i].Holding() && !d.Allocation.IsZero() {
			if where := w.place(free, d.Allocation); where != nil {
				w.start(i, d, where)
			}
		}
	}
}

func keeps(j *policy.Job, d *policy.Decision, back []cluster.NodeID) bool {
	if d.Placement == nil && vacates(j.Placement, back) {
		return false
	}
	same := j.Allocation.Configuration == d.Allocation.Configuration && (d.Placement == nil || d.Placement.SameGPUs(j.Placement))
	return same || resizes(j, d)
}

func (w *World) change(j *policy.Job, d *policy.Decision) *policy.Job {
	row := *j
	if d.Placement != nil && !d.Placement.SameGPUs(j.Placement) {
		w.settle(&row)
	}
	row.Allocation = d.Allocation
	if d.Placement != nil {
		row.Placement = d.Placement
	}
	return &row
}

func (w *World) stop(j *policy.Job) *policy.Job {
	row := *j
	w.settle(&row)
	row.Allocation, row.Placement, row.Phase = cluster.Allocation{}, nil, job.Waiting
	if row.NoCheckpoint {
		row.Progress, row.Epoch = 0, 0
	}
	return &row
}

func (w *World) settle(row *policy.Job) {
	row.Service, row.GPUService, row.Since = row.AttainedService(w.Now()), row.AttainedGPUService(w.Now()), w.Now()
}

func (w *World) start(i int, d *policy.Decision, where cluster.Placement) {
	row := *w.jobs[i]
	if row.FirstStarted.IsZero() {
		row.FirstStarted = w.Now()
	} else {
		row.Restarts++
	}
	row.Phase, row.Since = job.Restoring, w.Now()
	row.Allocation, row.Placement = d.Allocation, where
	w.jobs[i] = &row
}

func (w *World) live(t *rapid.T, j *policy.Job) *policy.Job {
	if !rapid.Bool().Draw(t, "is heard of") {
		return j
	}
	row := *j
	switch {
	case j.Phase == job.Profiling:
		row.Phase = job.Waiting
		believe(t, &row, w.all.Types())
	case j.Holding():
		row.Phase = job.Running
		row.Status.MaxGPUs = max(j.Status.MaxGPUs, j.Allocation.GPUs)
		row.Progress = min(j.Target, j.Progress+rapid.SampledFrom([]float64{1, 1e3, 1e6}).Draw(t, "progress"))
	default:
		return j
	}
	return &row
}

func (w *World) changeNodes(t *rapid.T) {
	gone := cluster.NodeID("")
	if nodes := w.all.Nodes(); len(nodes) > 1 && rapid.Bool().Draw(t, "a node fails") {
		gone = nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "which")].ID
	}
	w.failNodes(func(id cluster.NodeID) bool { return id == gone })
}

func (w *World) failNodes(failed func(cluster.NodeID) bool) {
	w.down = failed
	now := w.all.Without(func(id cluster.NodeID) bool { return failed(id) || w.market.away[id] })
	if w.cluster == nil || !slices.Equal(w.cluster.Nodes(), now.Nodes()) { // the same pointer for the same nodes
		w.cluster = now
	}
	w.lose(failed)
}

func (w *World) lose(gone func(cluster.NodeID) bool) {
	for i, j := range w.jobs {
		if slices.ContainsFunc(j.Placement, func(s cluster.Share) bool { return gone(s.Node) }) {
			w.jobs[i] = w.stop(j)
		}
	}
}
