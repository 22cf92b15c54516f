package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A steadyPolicy is a scripted one that is steady, or not, and counts its plans.
type steadyPolicy struct {
	scripted
	steady bool
	plans  int
}

func (p *steadyPolicy) Traits() policy.Traits { return policy.Traits{Steady: p.steady} }

func (p *steadyPolicy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p.plans++
	return p.scripted.Plan(ctx, s)
}

// A round before which nothing happened is the last one again, unless something in the last one may
// be otherwise later. The first round starts job a, which is an action; the second does nothing.
func TestStill_rounds(t *testing.T) {
	classes := func(o *scheduler.Options) {
		o.Known = func(time.Time) []*perf.ClassStats { return nil }
	}
	for name, test := range map[string]struct {
		hurried bool // the policy is not steady
		options func(*scheduler.Options)
		nodes   func(*scheduler.NodesChanged)
		spoil   func(*policy.Plan) (*policy.Plan, error)
		event   scheduler.Event // before the third round
		plans   int             // in four rounds
	}{
		"nothing happens":         {plans: 2},
		"the policy goes by time": {hurried: true, plans: 4},
		"a job comes":             {event: scheduler.Submitted{Spec: &job.Spec{ID: "c", GPUs: 1}}, plans: 3},
		"a node goes":             {event: scheduler.NodesChanged{Cluster: nodes(t, "n0")}, plans: 3},
		"classes are known":       {options: classes, plans: 4},
		"nodes can be rented": {nodes: func(ev *scheduler.NodesChanged) {
			ev.Rentals = []cluster.Rental{{Offer: cluster.Offer{Group: "g", Most: 1}}}
		}, plans: 4},
		"nodes can be lent":          {nodes: func(ev *scheduler.NodesChanged) { ev.Loans = []cluster.Loan{{Group: "g"}} }, plans: 4},
		"the placer took a job back": {spoil: func(p *policy.Plan) (*policy.Plan, error) { p.Jobs[1].Why.Kind = policy.Evicted; return p, nil }, plans: 4},
		"plans fail":                 {spoil: func(*policy.Plan) (*policy.Plan, error) { return nil, errors.New("no plan") }, plans: 4},
		"work is under way": {spoil: func(p *policy.Plan) (*policy.Plan, error) {
			p.Background = func(context.Context) any { return 1 }
			return p, nil
		}, plans: 4},
	} {
		t.Run(name, func(t *testing.T) {
			p := &steadyPolicy{scripted{grants: map[job.ID]cluster.Placement{"a": {{Node: "n0", Resources: cluster.Resources{GPUs: 1}}}}, spoil: test.spoil}, !test.hurried, 0}
			o := unprofiled()
			if test.options != nil {
				test.options(&o)
			}
			s, err := scheduler.New(p, asPlanned{}, nodes(t, "n0", "n1"), o)
			if err != nil {
				t.Fatal(err)
			}
			ev := scheduler.NodesChanged{Cluster: nodes(t, "n0", "n1")}
			if test.nodes != nil {
				test.nodes(&ev)
			}
			step(t, s, ev, scheduler.Submitted{Spec: &job.Spec{ID: "a", GPUs: 1}}, scheduler.Submitted{Spec: &job.Spec{ID: "b", GPUs: 1}})
			for n := range 4 {
				if n == 2 && test.event != nil {
					step(t, s, test.event)
				}
				now := epoch.Add(time.Duration(n) * time.Minute)
				snap, plan, acts := s.Round(t.Context(), now)
				if snap.Round != n || !snap.Now.Equal(now) || len(plan.Jobs) != len(snap.Jobs) || (plan.Refused == "") && len(acts) > 0 != (n == 0) && plan.Background == nil {
					t.Errorf("round %d at %v of %d jobs, %d decisions, %v", snap.Round, snap.Now, len(snap.Jobs), len(plan.Jobs), acts)
				}
			}
			if p.plans != test.plans {
				t.Errorf("%d plans in 4 rounds, want %d", p.plans, test.plans)
			}
		})
	}
}

func step(t *testing.T, s *scheduler.Scheduler, evs ...scheduler.Event) {
	t.Helper()
	for _, ev := range evs {
		if _, err := s.Step(epoch, ev); err != nil {
			t.Fatal(err)
		}
	}
}
