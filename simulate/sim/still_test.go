package sim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
)

// A counting policy counts its plans, and may hide that it is steady.
type counting struct {
	policy.Policy
	steady bool
	plans  int
}

func (c *counting) Traits() policy.Traits {
	t := c.Policy.Traits()
	t.Steady = c.steady
	return t
}

func (c *counting) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	c.plans++
	return c.Policy.Plan(ctx, s)
}

// A minutes writes down what a run was like, beside another observer.
type minutes struct {
	scheduler.Observer
	text   strings.Builder
	rounds int
}

func (m *minutes) Event(now time.Time, ev scheduler.Event) {
	m.Observer.Event(now, ev)
	fmt.Fprintf(&m.text, "%v %T\n", now, ev)
}

func (m *minutes) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	m.Observer.Round(s, p, acts)
	m.rounds++
	fmt.Fprintf(&m.text, "%v round %d of %d jobs on %d nodes: %+v, do %+v\n", s.Now, s.Round, len(s.Jobs), len(s.Cluster.Nodes()), *p, acts)
	for _, j := range s.Jobs {
		fmt.Fprintf(&m.text, "  %s %+v\n", j.ID, j.Status)
	}
}

// steadyPolicies returns the policies of the table that say that a round before which nothing
// happened needs no plan.
func steadyPolicies() []registry.Entry {
	return slices.DeleteFunc(registry.Policies(), func(e registry.Entry) bool { return !e.Traits().Steady })
}

// TestStill plays random scripts with each steady policy and two placers, twice: once every round is
// planned, once only those that something happened before. Both are alike to the last digit.
func TestStill(t *testing.T) {
	draws.AtLeast(t, 100) // a fifth of the rounds are still
	for _, entry := range steadyPolicies() {
		for _, name := range draws.Some(t, 2, placerNames()) {
			t.Run(entry.Name+", "+name, func(t *testing.T) {
				rounds, plans := 0, 0
				rapid.Check(t, func(t *rapid.T) {
					all, few := stillPlay(t, &entry, name)
					if all.text.String() != few.text.String() {
						t.Fatalf("every round planned:\n%s\nstill rounds not:\n%s", all.text.String(), few.text.String())
					}
					rounds, plans = rounds+all.rounds, plans+few.plans
				})
				if plans*100 > rounds*95 {
					t.Errorf("%d plans in %d rounds, want at least 5 %% of the rounds without one", plans, rounds)
				}
			})
		}
	}
}

// A toldRun is what it was like, and how many plans were made.
type toldRun struct {
	*minutes
	plans int
}

// stillPlay plays one script, with every round planned and without.
func stillPlay(t *rapid.T, entry *registry.Entry, placer string) (all, few toldRun) {
	script := draw(t)
	once := func(steady bool) toldRun {
		p, err := entry.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		var pl placement.Placer
		if pl, err = registry.NewPlacer(placer, registry.PlacerOptions{Penalty: 0.1}); err != nil {
			t.Fatal(err)
		}
		c, seen := &counting{Policy: p, steady: steady}, &minutes{}
		record := func(o scheduler.Observer) scheduler.Observer { seen.Observer = o; return seen }
		if err := (&play{script: script, policy: c, placer: pl, record: record}).run(); err != nil {
			t.Fatal(err)
		}
		return toldRun{seen, c.plans}
	}
	return once(false), once(true)
}
