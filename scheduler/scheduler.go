package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
	"github.com/oxgang/oxgang/perf/estimate"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
)

// Options configure a Scheduler.
type Options struct {
	// Round is the time between plans. Default 60 s (Sia §3.4.3).
	Round time.Duration
	// First is the time until the first plan. Default 0: one Round.
	First time.Duration
	// Profile takes one-GPU profiles of a job before it is planned for.
	// Default true (Sia §3.3.2).
	Profile bool
	// FreeMoves makes moving to other nodes of the same type in the same shape
	// cost nothing, as in the public simulator. Default false.
	FreeMoves bool
	// Estimate says how models are learned. Its Types are set from the cluster.
	Estimate estimate.Options
	// Classes learns what the jobs of a class have in common, as Class says.
	// Default false: few policies ask for it. Source: BOA §3.1.
	Classes bool
	Class   estimate.ClassOptions
	// Known, if not nil, returns what is known of classes beforehand; it is shown in
	// place of what was learned. As there, a class that did not change keeps its
	// pointer.
	Known func(now time.Time) []*perf.ClassStats
}

// DefaultOptions returns the papers' settings.
func DefaultOptions() Options {
	return Options{Round: time.Minute, Profile: true, Class: estimate.DefaultClassOptions()}
}

// Validate returns an error that joins all complaints about o.
func (o *Options) Validate() error {
	var errs []error
	if o.Round <= 0 {
		errs = append(errs, fmt.Errorf("round %v, want more than 0", o.Round))
	}
	if o.First < 0 {
		errs = append(errs, fmt.Errorf("first round after %v, want at least 0", o.First))
	}
	if o.Classes {
		errs = append(errs, o.Class.Validate())
	}
	return errors.Join(append(errs, o.Estimate.Validate())...)
}

// A Scheduler holds what is known of the cluster and its jobs. Make one with
// New. It is not safe for concurrent use.
type Scheduler struct {
	policy    policy.Policy
	placer    placement.Placer
	o         Options
	beliefs   *estimate.Pool
	classes   *estimate.Classes // nil: not learned
	cluster   *cluster.Cluster
	rentals   []cluster.Rental
	loans     []cluster.Loan
	round     int
	records   map[job.ID]*record
	active    []*record // by submission time, then ID
	gone      bool      // some record of active is in a terminal phase
	immediate []Action  // what the event in progress asks to be done at once
	// Of the policy's background work: one is under way; what the last returned,
	// until a round shows it.
	computing bool
	computed  any
}

// record is one job's row. Invariant: row is nil, or version not that of belief,
// exactly when something in it changed since it was last shown.
type record struct {
	spec    *job.Spec
	status  job.Status
	belief  *estimate.Job
	version estimate.Version // of the belief in row
	row     *policy.Job
	batch   job.BatchSize // last asked for; zero: the agent decides
}

// New returns a Scheduler of an empty queue. Nodes of c of tenure Rented and Loaned are
// there once NodesChanged says so.
func New(p policy.Policy, pl placement.Placer, c *cluster.Cluster, o Options) (*Scheduler, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("scheduler: %w", err)
	}
	o.Estimate.Types = c.Types()
	if o.Estimate.Fits == nil {
		o.Estimate.Fits = estimate.NewCache()
	}
	s := &Scheduler{policy: p, placer: pl, cluster: c.Held(), rentals: c.Rentals(), loans: c.Loans(), o: o, records: make(map[job.ID]*record)}
	s.beliefs = estimate.NewPool(&s.o.Estimate)
	if o.Classes && o.Known == nil {
		s.classes = estimate.NewClasses(s.o.Estimate, o.Class)
	}
	return s, nil
}

// Length returns the time between rounds.
func (s *Scheduler) Length() time.Duration { return s.o.Round }

// Step takes in one event and returns what is to be done at once. It returns
// an error if the event contradicts what is known: an ID submitted or restored
// twice, a report, exit or description of a job never submitted, or the end of
// work that was not asked for; and if a report has numbers that
// job.Report.Validate does not let pass. Late news of a job that has ended is
// ignored; so is, in a report from a configuration that the job no longer holds,
// everything but the measurements.
func (s *Scheduler) Step(now time.Time, ev Event) ([]Action, error) {
	if ev == nil {
		return nil, errors.New("scheduler: no event")
	}
	s.immediate = nil
	err := ev.apply(s, now)
	return s.immediate, err
}

func (s *Scheduler) submit(now time.Time, spec *job.Spec) error {
	if _, dup := s.records[spec.ID]; dup {
		return fmt.Errorf("job %s: submitted twice", spec.ID)
	}
	r := &record{spec: spec, belief: s.beliefs.New(spec)}
	r.status = job.Status{Phase: job.Waiting, Submitted: now, Since: now}
	s.classes.Submitted(now, spec)
	s.enter(r)
	if !s.o.Profile {
		return nil
	}
	r.status.Phase = job.Profiling
	s.immediate = []Action{Profile{Job: spec.ID, Types: s.eligible(spec)}}
	return nil
}

// enter makes a job an active one.
func (s *Scheduler) enter(r *record) {
	s.records[r.spec.ID] = r
	at, _ := slices.BinarySearchFunc(s.active, r, byAge)
	s.active = slices.Insert(s.active, at, r)
}

// restore takes up a job as it was left.
func (s *Scheduler) restore(ev *Restored) error {
	if _, dup := s.records[ev.Spec.ID]; dup {
		return fmt.Errorf("job %s: restored, and known already", ev.Spec.ID)
	}
	r := &record{spec: ev.Spec, belief: s.beliefs.New(ev.Spec), status: ev.Status, batch: ev.Batch}
	s.classes.Submitted(ev.Status.Submitted, ev.Spec)
	for i := range ev.Reports {
		if err := ev.Reports[i].Validate(); err != nil {
			return fmt.Errorf("job %s: restored report %d: %w", ev.Spec.ID, i, err)
		}
		r.belief.Learn(&ev.Reports[i])
		s.classes.Learn(&ev.Reports[i])
	}
	if !ev.Status.Phase.Terminal() {
		s.enter(r)
		return nil
	}
	s.classes.Ended(ev.Spec.ID, ev.Status.Phase)
	s.records[ev.Spec.ID] = nil
	return nil
}

// describe takes in what a job's program says of it.
func (r *record) describe(spec *job.Spec) {
	r.spec = spec
	r.belief.Describe(spec)
}

func byAge(a, b *record) int {
	if c := a.status.Submitted.Compare(b.status.Submitted); c != 0 {
		return c
	}
	return cmp.Compare(a.spec.ID, b.spec.ID)
}

func (s *Scheduler) eligible(spec *job.Spec) []cluster.GPUType {
	var types []cluster.GPUType
	for _, t := range s.o.Estimate.Types {
		if spec.Eligible(t.Type) {
			types = append(types, t.Type)
		}
	}
	return types
}

// update changes a job's row, unless the job has ended.
func (s *Scheduler) update(id job.ID, change func(*record)) error {
	r, ok := s.records[id]
	if !ok {
		return fmt.Errorf("job %s: never submitted", id)
	}
	if r == nil {
		return nil
	}
	r.row = nil
	change(r)
	return nil
}

// report takes in what an agent says. What it measured is true of where it was
// measured; how the job is doing, only if it still holds that.
func (s *Scheduler) report(now time.Time, r *record, rep *job.Report) {
	r.belief.Learn(rep)
	s.classes.Learn(rep)
	if rep.Profile {
		return
	}
	st := &r.status
	if rep.StepTime > 0 {
		st.MaxGPUs = max(st.MaxGPUs, rep.Configuration.GPUs)
	}
	if rep.Configuration != st.Allocation.Configuration {
		return
	}
	if st.Phase == job.Restoring {
		st.Phase = job.Running
	}
	st.Progress, st.Epoch, st.Batch, st.Reported = rep.Progress, rep.Epoch, rep.Batch, now
	s.classes.Reached(rep.Job, rep.Epoch, rep.Progress)
}

func (s *Scheduler) exit(now time.Time, r *record, o Outcome) {
	r.release(now)
	switch o {
	case Done:
		r.status.Phase = job.Completed
	case Failed:
		r.status.Phase = job.Failed
	case Cancelled:
		r.status.Phase = job.Cancelled
	case Lost:
		r.wait()
		return
	}
	r.status.Finished = now
	s.classes.Ended(r.spec.ID, r.status.Phase)
	s.records[r.spec.ID] = nil // remembers the ID, frees the rest
	s.gone = true
}

// wait lets a job wait that ran.
func (r *record) wait() {
	r.status.Phase = job.Waiting
	r.forget()
}

// forget takes its progress from a job without checkpoints, which begins anew.
func (r *record) forget() {
	if r.spec.NoCheckpoint {
		r.status.Progress, r.status.Epoch = 0, 0
	}
}

// reckon books the progress that a job is believed to have made since it last reported. Call
// it where a job is told to stop or to go on elsewhere: it saves a checkpoint then, and until
// it reports again nothing else tells how far it was.
func (r *record) reckon(now time.Time) {
	if r.row != nil {
		r.status.Progress = r.row.Done(now)
	}
}

// release settles the service a job has attained and takes its GPUs away.
func (r *record) release(now time.Time) {
	r.settle(now)
	r.status.Allocation, r.status.Placement = cluster.Allocation{}, nil
}

// settle books the service a job has attained.
func (r *record) settle(now time.Time) {
	st := &r.status
	st.Service, st.GPUService, st.Since = st.AttainedService(now), st.AttainedGPUService(now), now
}

// Jobs returns the number of jobs that have not ended.
func (s *Scheduler) Jobs() int { s.sweep(); return len(s.active) }

// sweep drops jobs that have ended from the active ones.
func (s *Scheduler) sweep() {
	if !s.gone {
		return
	}
	s.active = slices.DeleteFunc(s.active, func(r *record) bool { return r.status.Phase.Terminal() })
	s.gone = false
}

// Snapshot returns what a policy may look at now. Rows that did not change
// since the last snapshot are the same pointers.
func (s *Scheduler) Snapshot(now time.Time) *policy.Snapshot {
	s.sweep()
	snap := &policy.Snapshot{Now: now, Round: s.round, Length: s.o.Round, Cluster: s.cluster, Jobs: make([]*policy.Job, len(s.active)), Computed: s.computed, Rentals: s.rentals, Loans: s.loans}
	for i, r := range s.active {
		if now := r.belief.Version(); r.row == nil || r.version != now {
			r.row, r.version = r.show(), now
		}
		snap.Jobs[i] = r.row
	}
	if snap.Classes = s.classes.Stats(now); s.o.Known != nil {
		snap.Classes = s.o.Known(now)
	}
	return snap
}

func (r *record) show() *policy.Job {
	row := &policy.Job{Spec: r.spec, Status: r.status}
	model, limits := r.belief.Model()
	switch {
	case model != nil: // a nil *Model is not a nil perf.Model
		row.Perf = model
	case r.spec.Timed:
		row.Perf = perf.ByDuration{Spec: r.spec}
	}
	row.Limits = limits
	row.Sensitivity = r.belief.Sensitivity()
	return row
}

// Round asks the policy for a plan, checks and places it, and returns it with
// the snapshot it answers and the actions that make it so. A plan that breaks a
// rule, and a policy that fails or panics, are refused: every job keeps what it
// has, and Plan.Refused says why. Without jobs and nodes that can be rented or lent there
// is nothing to plan, and the snapshot is nil: what was computed waits for a round with
// jobs.
func (s *Scheduler) Round(ctx context.Context, now time.Time) (*policy.Snapshot, *policy.Plan, []Action) {
	snap := s.Snapshot(now)
	s.round++
	if len(snap.Jobs) == 0 && len(snap.Rentals)+len(snap.Loans) == 0 {
		return nil, nil, nil
	}
	s.computed = nil // shown
	plan, err := s.plan(ctx, snap)
	if err != nil {
		plan = stay(snap, err)
	}
	acts := append(s.diff(now, plan), s.rent(plan)...)
	if plan.Background != nil && !s.computing {
		s.computing = true
		acts = append(acts, Compute{Work: plan.Background})
	}
	return snap, plan, acts
}

func (s *Scheduler) plan(ctx context.Context, snap *policy.Snapshot) (plan *policy.Plan, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("round %d: policy panicked: %v", snap.Round, r)
		}
	}()
	if plan, err = s.policy.Plan(ctx, snap); err != nil {
		return nil, fmt.Errorf("round %d: plan: %w", snap.Round, err)
	}
	policy.FillProportional(snap, plan)
	if err = policy.Check(snap, plan); err != nil {
		return nil, fmt.Errorf("round %d: plan refused: %w", snap.Round, err)
	}
	if plan, err = s.placer.Place(ctx, snap, plan); err != nil {
		return nil, fmt.Errorf("round %d: place: %w", snap.Round, err)
	}
	if err = policy.CheckPlacement(snap, plan); err != nil {
		return nil, fmt.Errorf("round %d: placement refused: %w", snap.Round, err)
	}
	return plan, nil
}

// stay returns the plan in which every job keeps what it has.
func stay(snap *policy.Snapshot, why error) *policy.Plan {
	p := &policy.Plan{Jobs: make([]policy.Decision, len(snap.Jobs)), Refused: why.Error()}
	for i, j := range snap.Jobs {
		p.Jobs[i] = policy.Decision{Allocation: j.Allocation, Placement: j.Placement, Why: policy.Reason{Kind: policy.Refused}}
	}
	return p
}
