package pop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/policy/rivals/pop"
)

// A thinker is a queue with background work in every plan, which returns who
// planned, and when; it notes what it is shown.
type thinker struct {
	*queue.Policy
	name  int
	shown []any
}

// Plan implements policy.Policy.
func (p *thinker) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.Policy.Plan(ctx, s)
	if err != nil {
		return nil, err
	}
	p.shown = append(p.shown, s.Computed)
	if failed, ok := s.Computed.(error); ok {
		plan.Stats.Failed = failed.Error()
	}
	result := fmt.Sprintf("part %d, round %d", p.name, s.Round)
	plan.Background = func(context.Context) any {
		if p.name == 1 {
			panic("out of luck")
		}
		return result
	}
	return plan, nil
}

// thinkers returns what makes the inner policies, and those made.
func thinkers() (func() (policy.Policy, error), *[]*thinker) {
	var all []*thinker
	return func() (policy.Policy, error) {
		p := &thinker{Policy: queue.New(queue.FIFO()), name: len(all)}
		all = append(all, p)
		return p, nil
	}, &all
}

// Every part is shown what its own work returned, whatever became of the others',
// and nothing twice.
func TestPlan_deals_out_background_work(t *testing.T) {
	for _, parts := range []int{1, 3} {
		s := newSetting(t, pop.Options{Parts: parts, Split: pop.Balanced}, 6)
		for range 6 {
			s.submit(2)
		}
		inner, made := thinkers()
		p := must(t, pop.Options{Parts: parts, Split: pop.Balanced}, inner)
		c := s.cluster()
		var computed any
		for round := range 3 {
			got := plan(t, p, &policy.Snapshot{Round: round, Now: policytest.Epoch, Length: time.Minute, Cluster: c, Jobs: s.jobs, Computed: computed})
			if want := round == 1 && parts > 1; strings.Contains(got.Stats.Failed, "out of luck") != want {
				t.Errorf("%d parts, round %d: failed %q, want a panic told: %t", parts, round, got.Stats.Failed, want)
			}
			computed = nil
			if round == 0 {
				computed = got.Background.Do(t.Context())
			}
		}
		for i, q := range *made {
			want := []any{nil, fmt.Sprintf("part %d, round 0", i), nil}
			if i == 1 {
				want[1] = "background work panicked: out of luck"
			}
			if fmt.Sprint(q.shown) != fmt.Sprint(want) {
				t.Errorf("%d parts: part %d was shown %v, want %v", parts, i, q.shown, want)
			}
		}
	}
}

// Where the works fail as one, every part is told.
func TestPlan_deals_out_a_failure(t *testing.T) {
	s := newSetting(t, pop.Options{Parts: 2, Split: pop.Balanced}, 2)
	inner, made := thinkers()
	p := must(t, pop.Options{Parts: 2, Split: pop.Balanced}, inner)
	failed := errors.New("the machine is gone")
	got := plan(t, p, &policy.Snapshot{Now: policytest.Epoch, Length: time.Minute, Cluster: s.cluster(), Computed: failed})
	if got.Stats.Failed != failed.Error() {
		t.Errorf("failed %q, want %q", got.Stats.Failed, failed)
	}
	for i, q := range *made {
		if fmt.Sprint(q.shown) != fmt.Sprintf("[%v]", failed) {
			t.Errorf("part %d was shown %v, want %v", i, q.shown, failed)
		}
	}
}

// A part that is not asked, because it is one with another, is shown its result
// when it is asked again.
func TestPlan_keeps_the_results_of_joined_parts(t *testing.T) {
	s := newSetting(t, pop.Options{Parts: 2, Split: pop.Balanced}, 2)
	inner, made := thinkers()
	p := must(t, pop.Options{Parts: 2, Split: pop.Balanced}, inner)
	c, round := s.cluster(), 0
	play := func(computed any) *policy.Plan {
		round++
		return plan(t, p, &policy.Snapshot{Round: round, Now: policytest.Epoch, Length: time.Minute, Cluster: c, Jobs: s.jobs, Computed: computed})
	}
	s.submit(2)
	s.submit(2)
	(*made)[1].name = 7 // and does not panic
	computed := play(nil).Background.Do(t.Context())
	s.submit(16) // more than a part has
	play(computed)
	s.jobs = s.jobs[:2]
	play(nil)
	for i, want := range []string{"[<nil> part 0, round 1 <nil>]", "[<nil> part 7, round 1]"} {
		if got := fmt.Sprint((*made)[i].shown); got != want {
			t.Errorf("part %d was shown %s, want %s", i, got, want)
		}
	}
}

// Without works there is none.
func TestPlan_without_background_work(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := policytest.NewWorld(r)
		if got := plan(r, must(t, pop.DefaultOptions(), ofSia), w.Snapshot()); got.Background != nil {
			r.Fatal("background work, want none: no part has any")
		}
	})
}

// cluster returns that of the setting's nodes.
func (s *setting) cluster() *cluster.Cluster {
	c, err := cluster.New(s.nodes)
	if err != nil {
		s.Fatal(err)
	}
	return c
}
