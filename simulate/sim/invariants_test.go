package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
	"github.com/oxgang/oxgang/simulate/sim"
)

// errHorizon ends a run in which some job may never end: one that its policy
// or its placer keeps waiting, or that failures always catch.
var errHorizon = errors.New("horizon reached")

// horizon is when it ends, in virtual time.
const horizon = 12 * time.Hour

type bounded struct{ scheduler.Backend }

func (b bounded) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if deadline.Sub(sim.Epoch) > horizon {
		return nil, errHorizon
	}
	return b.Backend.Next(ctx, deadline)
}

// A play is a script, who decides in it, and who watches; wrap, if not nil,
// stands between the world and the scheduler.
type play struct {
	*script
	policy policy.Policy
	placer placement.Placer
	wrap   func(scheduler.Backend) scheduler.Backend
	record func(scheduler.Observer) scheduler.Observer // between the run and the metrics
	watch  []scheduler.Observer
}

// run plays a script and returns the complaints of the auditor, about GPU-hours
// and about refused plans.
func (p *play) run() error {
	w, err := sim.New(p.cluster, p.catalog, p.arrivals, p.world)
	if err != nil {
		return err
	}
	s, err := scheduler.New(p.policy, p.placer, p.cluster, p.scheduler)
	if err != nil {
		return err
	}
	rec, err := metrics.New(metrics.DefaultOptions())
	if err != nil {
		return err
	}
	audit, refused, spent := schedulertest.Audit(), &refusals{}, &profiling{}
	audit.Checkpoint = p.world.Checkpoint
	obs := []scheduler.Observer{audit, rec, refused, spent}
	obs = append(obs, p.watch...)
	if p.record != nil {
		obs[1] = p.record(rec)
	}
	var b scheduler.Backend = bounded{w}
	if p.wrap != nil {
		b = p.wrap(b)
	}
	err = s.Run(context.Background(), b, obs...)
	ended := audit.End
	if errors.Is(err, errHorizon) {
		err, ended = nil, audit.Err
	}
	return errors.Join(err, ended(), refused.err, conserved(rec.Result(), audit, spent))
}

// conserved checks that a job's GPU time is in exactly one of the accounts:
// held is useful or restart, and what is neither was profiling or the rest of
// its last round.
func conserved(r *metrics.Result, audit *schedulertest.Auditor, spent *profiling) error {
	var errs []error
	same := func(id job.ID, what string, got, want float64) {
		if math.Abs(got-want) > 1e-6*max(1, want) {
			errs = append(errs, fmt.Errorf("job %s: %s %v GPU-s, want %v", id, what, got, want))
		}
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		byType := 0.0
		for _, used := range j.ByType {
			byType += used
		}
		same(j.ID, "useful and restart", j.Useful+j.Restart, audit.Held(j.ID).Seconds())
		same(j.ID, "profiling", j.Profiling, spent.of[j.ID].Seconds())
		same(j.ID, "allocated", j.Allocated, j.Useful+j.Restart+j.Profiling+j.Idle)
		same(j.ID, "by type", byType, j.Allocated)
	}
	return errors.Join(errs...)
}

// profiling counts GPU time reported by profiling runs.
type profiling struct{ of map[job.ID]time.Duration }

func (p *profiling) Event(_ time.Time, ev scheduler.Event) {
	if r, ok := ev.(scheduler.Reported); ok && r.Profile {
		if p.of == nil {
			p.of = make(map[job.ID]time.Duration)
		}
		p.of[r.Job] += time.Duration(r.Configuration.GPUs) * r.Interval
	}
}

func (*profiling) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

// refusals keeps the first reason why a plan was refused: no built-in policy
// and placer may ever make one.
type refusals struct{ err error }

func (*refusals) Event(time.Time, scheduler.Event) {}

func (r *refusals) Round(_ *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	if p.Refused != "" && r.err == nil {
		r.err = fmt.Errorf("a plan was refused: %s", p.Refused)
	}
}

// TestInvariants plays random scripts with every policy and placer: an Auditor finds no violation, GPU-hours are
// conserved, and no plan is refused. RAPID_SEED chooses two placers for each policy; OXGANG_LONG runs all; -short
// runs a quarter of the policies with one placer.
func TestInvariants(t *testing.T) {
	few := map[string]string{"population": "8", "generations": "4"}
	short := map[string]map[string]string{"pollux": few, "pollux-autoscale": few}
	names, all := placerNames(), registry.Policies()
	for _, entry := range draws.Some(t, len(all), all) {
		t.Run(entry.Name, func(t *testing.T) {
			for _, name := range draws.Some(t, 2, names) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					rapid.Check(t, func(t *rapid.T) {
						p, err := entry.New(short[entry.Name])
						if err != nil {
							t.Fatal(err)
						}
						placer, err := registry.NewPlacer(name, registry.PlacerOptions{Penalty: 0.1})
						if err != nil {
							t.Fatal(err)
						}
						pl := &play{script: draw(t), policy: p, placer: placer}
						if err := pl.run(); err != nil {
							t.Fatal(err)
						}
					})
				})
			}
		})
	}
}

func placerNames() []string {
	var all []string
	for _, p := range registry.Placers() {
		all = append(all, p.Name)
	}
	return all
}

// A thinker is a policy with background work in every plan. It fails if the work of
// the last plan has not ended.
type thinker struct {
	policy.Policy
	last any // round planned; nil: none
}

func (p *thinker) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if s.Computed != p.last {
		return nil, fmt.Errorf("computed %v, want %v", s.Computed, p.last)
	}
	plan, err := p.Policy.Plan(ctx, s)
	if err == nil {
		plan.Background = func(context.Context) any { return s.Round }
		p.last = s.Round
	}
	return plan, err
}

// Background work ends before the next round, whatever a round is.
func TestBackground_takes_no_time(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fifo, err := registry.New("fifo", nil)
		if err != nil {
			t.Fatal(err)
		}
		placer, err := registry.NewPlacer("submesh", registry.PlacerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		pl := &play{script: draw(t), policy: &thinker{Policy: fifo}, placer: placer}
		if err := pl.run(); err != nil {
			t.Fatal(err)
		}
	})
}
