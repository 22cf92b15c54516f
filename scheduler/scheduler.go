package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// Options configure a Scheduler.
type Options struct {
	// Round is the time between plans. Default 60 s (Sia §3.4.3).
	Round time.Duration
	// First is the time until the first plan. Default 0: one Round.
	First time.Duration
	// Profile measures each job on one GPU of each type before it first gets GPUs. Default true (Sia §3.3.2).
	Profile bool
	// OnSubmit adds rounds soon after submissions, in which running jobs keep what they hold: see
	// Scheduler.Run. Default false.
	OnSubmit bool
	// OnEvent, if not 0, replaces OnSubmit's rounds by rounds half a second after a job is submitted or ends or
	// nodes change, but at the earliest OnEvent after the last round. Policies that start jobs at once need it.
	OnEvent time.Duration
	// FreeMoves lets jobs move to other nodes with the same configuration without a restart, as in Sia's public
	// simulator. Default false.
	FreeMoves bool
	// Estimate configures how models are learned. Its Types are set from the cluster.
	Estimate estimate.Options
	// Classes lets the scheduler estimate statistics of job classes. Default false. Source: BOA §3.1.
	Classes bool
	Class   estimate.ClassOptions
	// Lean makes the cost of a round proportional to what changed, if policy and placer support it
	// (policy.Traits.Keeps, placement.Incremental): snapshots omit jobs that simply continue. Decisions are the
	// same. Observers may keep rows, but not snapshots and plans, which are overwritten two rounds later. Default
	// false.
	Lean bool
	// Known, if not nil, returns statistics of classes that replace the estimated ones. An unchanged class must
	// keep its pointer.
	Known func(now time.Time) []*perf.ClassStats
}

// DefaultOptions returns the settings of the papers.
func DefaultOptions() Options {
	return Options{Round: time.Minute, Profile: true, Class: estimate.DefaultClassOptions()}
}

// Validate returns all errors in o, joined.
func (o *Options) Validate() error {
	var errs []error
	if o.Round <= 0 {
		errs = append(errs, fmt.Errorf("round %v, want more than 0", o.Round))
	}
	if o.First < 0 || o.OnEvent < 0 {
		errs = append(errs, fmt.Errorf("first round after %v, rounds on events after %v, want at least 0", o.First, o.OnEvent))
	}
	if o.Classes {
		errs = append(errs, o.Class.Validate())
	}
	return errors.Join(append(errs, o.Estimate.Validate())...)
}

// A Scheduler asks a policy in each round which jobs run on which nodes, and turns the plan into actions. It is not
// safe for concurrent use.
type Scheduler struct {
	policy policy.Policy
	placer placement.Placer
	o      Options
	*memory
	immediate  []Action // actions that the present event needs at once
	steady     steadyRound
	continuing continuing
}

// record is the state of one job. Invariant: after a change since the last snapshot, row is nil or, with
// estimate.Options.Share, version differs from the version of belief.
type record struct {
	spec    *job.Spec
	status  job.Status
	belief  *estimate.Job
	version estimate.Version // of the belief in row
	row     *policy.Job
	pinned  *policy.Job // row as a non-preemptive job; nil: not made yet
	batch   job.BatchSize
	why     policy.Reason
	decided bool
}

// New returns a Scheduler without jobs, for policy p, placer pl and the nodes of c. Events NodesChanged add rented and
// lent nodes later.
func New(p policy.Policy, pl placement.Placer, c *cluster.Cluster, o Options) (*Scheduler, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("scheduler: %w", err)
	}
	o.Estimate.Types = c.Types()
	if o.Estimate.Fits == nil {
		o.Estimate.Fits = estimate.NewCache()
	}
	s := &Scheduler{policy: p, placer: pl, o: o, memory: &memory{nodes: supply{c.Held(), c.Rentals(), c.Loans()}, records: make(map[job.ID]*record)}}
	s.beliefs = estimate.NewPool(&s.o.Estimate)
	if o.Classes && o.Known == nil {
		s.classes = estimate.NewClasses(s.o.Estimate, o.Class)
	}
	return s, nil
}

// Length returns the time between rounds.
func (s *Scheduler) Length() time.Duration { return s.o.Round }

// Step handles one event and returns the actions to carry out at once. It returns an error for an event that cannot
// follow the earlier ones, and for an invalid report.
//
// Events of a job that has ended are ignored, but a cancelled job may be submitted or restored again. If a report is
// from a configuration that the job no longer holds, only its measurements are used.
func (s *Scheduler) Step(now time.Time, ev Event) ([]Action, error) {
	if ev == nil {
		return nil, errors.New("scheduler: no event")
	}
	s.immediate, s.steady = nil, steadyRound{}
	err := ev.apply(s, now)
	return s.immediate, err
}

func (s *Scheduler) submit(now time.Time, spec *job.Spec) error {
	if r, dup := s.records[spec.ID]; dup && r != cancelled {
		return fmt.Errorf("job %s: submitted twice", spec.ID)
	}
	r := &record{spec: spec, belief: s.beliefs.New(spec)}
	r.status = job.Status{Phase: job.Waiting, Submitted: now, Since: now}
	s.classes.Submitted(now, spec)
	s.enter(r)
	if !s.o.Profile {
		s.times.soon(now, &s.o)
		return nil
	}
	r.status.Phase = job.Profiling
	s.immediate = []Action{Profile{Job: spec.ID, Types: s.eligible(spec)}}
	return nil
}

func (s *Scheduler) enter(r *record) {
	s.records[r.spec.ID] = r
	at, _ := slices.BinarySearchFunc(s.active, r, byAge)
	s.active = slices.Insert(s.active, at, r)
}

func (s *Scheduler) restore(ev *Restored) error {
	if r, dup := s.records[ev.Spec.ID]; dup && r != cancelled {
		return fmt.Errorf("job %s: restored, but it exists already", ev.Spec.ID)
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

func (s *Scheduler) update(id job.ID, change func(*record)) error {
	r, ok := s.records[id]
	if !ok {
		return fmt.Errorf("job %s: never submitted", id)
	}
	if r == nil || r == cancelled {
		return nil
	}
	r.row = nil
	change(r)
	return nil
}

// report handles a report. Measurements count for their configuration, progress only if the job still holds
// that configuration.
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
	s.locality.Learn(r.spec.Class, rep, s.nodes.cluster.Racks(st.Placement))
	if st.Phase == job.Restoring {
		st.Phase = job.Running
	}
	st.Progress, st.Epoch, st.Batch, st.Reported = rep.Progress, rep.Epoch, rep.Batch, now
	s.classes.Reached(rep.Job, rep.Epoch, rep.Progress)
}

func (s *Scheduler) exit(now time.Time, r *record, o Outcome) {
	r.release(now)
	s.changed(now)
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
	s.records[r.spec.ID] = nil // keeps the ID, and frees the rest
	if o == Cancelled {
		s.records[r.spec.ID] = cancelled
	}
	s.hasEnded = true
}

// cancelled is the record of jobs that were cancelled: they may come back.
var cancelled = new(record)

func (r *record) wait() {
	r.status.Phase = job.Waiting
	r.forget()
}

func (r *record) forget() {
	if r.spec.NoCheckpoint {
		r.status.Progress, r.status.Epoch = 0, 0
	}
}

// reckon adds the estimated progress since a job's last report. Call it when a job must stop or move: it then
// saves a checkpoint.
func (r *record) reckon(now time.Time) {
	if r.row != nil {
		r.status.Progress = r.row.Done(now)
	}
}

func (r *record) release(now time.Time) {
	r.settle(now)
	r.status.Allocation, r.status.Placement = cluster.Allocation{}, nil
}

func (r *record) settle(now time.Time) {
	st := &r.status
	st.Service, st.GPUService, st.Since = st.AttainedService(now), st.AttainedGPUService(now), now
}

func (s *Scheduler) sweep() {
	if !s.hasEnded {
		return
	}
	s.active = slices.DeleteFunc(s.active, func(r *record) bool { return r.status.Phase.Terminal() })
	s.hasEnded = false
}

// Snapshot returns the state of jobs and nodes at time now, as input for a policy. The row of a job that did not change
// is the same pointer as in the last snapshot.
func (s *Scheduler) Snapshot(now time.Time) *policy.Snapshot {
	s.sweep()
	return s.snapshot(now, make([]*policy.Job, len(s.active)))
}

func (s *Scheduler) snapshot(now time.Time, rows []*policy.Job) *policy.Snapshot {
	snap := &policy.Snapshot{Now: now, Round: s.round, Length: s.o.Round, Cluster: s.nodes.cluster, Jobs: rows, Computed: s.computed, Rentals: s.nodes.rentals, Loans: s.nodes.loans, Locality: s.locality.Costs()}
	for i, r := range s.active {
		if r.row == nil || s.o.Estimate.Share && r.version != r.belief.Version() {
			r.row, r.version, r.pinned = r.show(), r.belief.Version(), nil
		}
		snap.Jobs[i] = r.row
	}
	if snap.Classes = s.classes.Stats(now); s.o.Known != nil {
		snap.Classes = s.o.Known(now)
	}
	return snap
}

func (r *record) show() *policy.Job {
	model, limits := r.belief.Model()
	return &policy.Job{Spec: r.spec, Status: r.status, Perf: believed(model, r.spec), Limits: limits, Sensitivity: r.belief.Sensitivity()}
}

func believed(model *estimate.Model, spec *job.Spec) perf.Model {
	switch {
	case model != nil: // a nil *Model is not a nil perf.Model
		return model
	case spec.Timed:
		return perf.ByDuration{Spec: spec}
	}
	return nil
}

// Round asks the policy for a plan, checks it and places it. It returns the snapshot, the plan, and the actions that
// carry it out. If the plan breaks a rule, or the policy fails or panics, every job keeps what it has, and Plan.Refused
// has the reason.
//
// Without jobs and without nodes that can be rented or lent, Round returns nil for all three. A result of background
// work then waits for a later round.
func (s *Scheduler) Round(ctx context.Context, now time.Time) (*policy.Snapshot, *policy.Plan, []Action) {
	return s.decide(ctx, now, s.plan)
}

func (s *Scheduler) decide(ctx context.Context, now time.Time, how planner) (*policy.Snapshot, *policy.Plan, []Action) {
	if snap, plan := s.repeat(now); plan != nil {
		return snap, plan, nil
	}
	s.sweep()
	snap := s.snapshot(now, s.continuing.memory(len(s.active), s.o.Lean && s.policy.Traits().Keeps))
	s.round++
	s.times.extra = time.Time{}
	if len(snap.Jobs) == 0 && len(snap.Rentals)+len(snap.Loans) == 0 {
		return nil, nil, nil
	}
	s.times.planned, s.computed = now, nil // snap has it
	plan, asked := s.planOthers(ctx, snap)
	if plan == nil {
		var err error
		if plan, err = how(ctx, snap); err != nil {
			plan = stay(snap, err)
		}
		asked = s.continuing.everyone(len(s.active))
	}
	for _, i := range asked {
		s.active[i].why, s.active[i].decided = plan.Jobs[i].Why, true
	}
	acts := append(s.diff(now, plan, asked), s.nodes.rent(plan)...)
	s.note(snap, plan, asked)
	if plan.Background != nil && !s.computing {
		s.computing = true
		acts = append(acts, Compute{Work: plan.Background})
	}
	s.storeSteady(snap, plan, acts)
	return snap, plan, acts
}

type planner func(context.Context, *policy.Snapshot) (*policy.Plan, error)

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
	if plan, err = s.placer.Place(ctx, snap.Without(plan.Return), plan); err != nil {
		return nil, fmt.Errorf("round %d: place: %w", snap.Round, err)
	}
	if err = policy.CheckPlacement(snap, plan); err != nil {
		return nil, fmt.Errorf("round %d: placement refused: %w", snap.Round, err)
	}
	return plan, nil
}

func stay(snap *policy.Snapshot, why error) *policy.Plan {
	p := &policy.Plan{Jobs: make([]policy.Decision, len(snap.Jobs)), Refused: why.Error()}
	for i, j := range snap.Jobs {
		p.Jobs[i] = policy.Decision{Allocation: j.Allocation, Placement: j.Placement, Why: policy.Reason{Kind: policy.Refused}}
	}
	return p
}
