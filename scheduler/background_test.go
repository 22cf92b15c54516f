package scheduler_test

import (
	"context"
	"errors"
	"testing"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// thinks makes the policy ask in every plan for work that returns x.
func (d *bench) thinks(x any) {
	d.policy.spoil = func(p *policy.Plan) (*policy.Plan, error) {
		p.Background = func(context.Context) any { return x }
		return p, nil
	}
}

// compute returns what the work returns that is among actions, and whether there
// is one.
func (d *bench) compute(acts []scheduler.Action) (result any, asked bool) {
	d.Helper()
	for _, a := range acts {
		if c, ok := a.(scheduler.Compute); ok {
			if asked {
				d.Fatal("asked for two works at once")
			}
			result, asked = c.Work.Do(d.Context()), true
		}
	}
	return result, asked
}

// What a work returns is shown in the next round, and only there.
func TestBackground_is_shown_once(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a")
	d.thinks(7)
	s, _, acts := d.round()
	if got, asked := d.compute(acts); !asked || got != 7 || s.Computed != nil {
		t.Fatalf("got %v, asked for: %v, shown %v, want 7 asked for and nothing shown", got, asked, s.Computed)
	}
	d.step(scheduler.Computed{Result: 7})
	d.policy.spoil = nil
	for _, want := range []any{7, nil} {
		if s, _, acts := d.round(); s.Computed != want || len(acts) != 0 {
			t.Errorf("shown %v and asked for %v, want %v and nothing", s.Computed, acts, want)
		}
	}
}

func TestBackground_one_at_a_time(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a")
	for _, c := range []struct {
		work  int
		asked bool
		shown any
		ended any // before the next round
	}{
		{1, true, nil, nil}, {2, false, nil, nil}, {3, false, nil, 1}, {4, true, 1, 4}, {5, true, 4, 5},
	} {
		d.thinks(c.work)
		s, _, acts := d.round()
		if got, asked := d.compute(acts); asked != c.asked || s.Computed != c.shown {
			t.Errorf("work %d: asked for %v (%v), shown %v, want %v and %v", c.work, got, asked, s.Computed, c.asked, c.shown)
		}
		if c.ended != nil {
			d.step(scheduler.Computed{Result: c.ended})
		}
	}
}

// A result waits for a round in which a policy is asked.
func TestBackground_waits_for_jobs(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a")
	d.thinks(7)
	d.round()
	d.step(scheduler.Exited{Job: "a", Outcome: scheduler.Done})
	d.step(scheduler.Computed{Result: 7})
	if s, _, acts := d.round(); s != nil || len(acts) != 0 {
		t.Fatalf("no jobs: got snapshot %v and actions %v", s, acts)
	}
	d.submit("b")
	if s, _, _ := d.round(); s.Computed != 7 {
		t.Errorf("the next job's first round: shown %v, want 7", s.Computed)
	}
}

// A plan that is refused starts nothing, and its policy has seen what it was
// shown.
func TestBackground_of_a_refused_plan(t *testing.T) {
	for name, spoil := range map[string]func(*policy.Plan) (*policy.Plan, error){
		"a broken rule": func(p *policy.Plan) (*policy.Plan, error) { p.Jobs = nil; return p, nil },
		"an error":      func(p *policy.Plan) (*policy.Plan, error) { return p, errors.New("no idea") },
		"a panic":       func(*policy.Plan) (*policy.Plan, error) { panic("out of luck") },
	} {
		d := newBench(t, unprofiled())
		d.submit("a")
		d.thinks(7)
		d.round()
		d.step(scheduler.Computed{Result: 7})
		good := d.policy.spoil
		d.policy.spoil = func(p *policy.Plan) (*policy.Plan, error) {
			p, _ = good(p)
			return spoil(p)
		}
		if s, p, acts := d.round(); p.Refused == "" || len(acts) != 0 || s.Computed != 7 {
			t.Errorf("%s: refused %q, actions %v, shown %v, want it refused, none, and 7", name, p.Refused, acts, s.Computed)
		}
		d.policy.spoil = good
		s, _, acts := d.round()
		if _, asked := d.compute(acts); !asked || s.Computed != nil {
			t.Errorf("%s: the next plan's work asked for: %v, shown %v, want it, and nothing", name, asked, s.Computed)
		}
	}
}
