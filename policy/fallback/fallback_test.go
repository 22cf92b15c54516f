package fallback_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/fallback"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/queue"
)

type planner func(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error)

func (planner) Traits() policy.Traits { return policy.Traits{} }

// Plan implements policy.Policy.
func (f planner) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	return f(ctx, s)
}

// fifo plans well.
func fifo(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	return queue.New(queue.FIFO()).Plan(ctx, s)
}

// wrap returns a fallback around p for rounds of a minute, after two failures.
func wrap(t testing.TB, p policy.Policy) *fallback.Policy {
	t.Helper()
	o := fallback.DefaultOptions(time.Minute)
	o.After = 2
	f, err := fallback.New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// spoilt returns the plan of the queue with something done to it.
func spoilt(change func(s *policy.Snapshot, p *policy.Plan)) planner {
	return func(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
		p, err := fifo(ctx, s)
		if err == nil {
			change(s, p)
		}
		return p, err
	}
}

// bugs are policies that fail, by how.
var bugs = []struct {
	name  string
	p     planner
	cause fallback.Cause
	says  string
}{
	{"an error", func(context.Context, *policy.Snapshot) (*policy.Plan, error) { return nil, errors.New("no basis") }, fallback.Error, "no basis"},
	{"a panic", func(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
		return &policy.Plan{Jobs: make([]policy.Decision, -len(s.Jobs))}, nil
	}, fallback.Panic, "panicked: runtime error"},
	{"no plan", func(context.Context, *policy.Snapshot) (*policy.Plan, error) { return nil, nil }, fallback.Check, "plan: none"},
	{"a hang until its time is over", func(ctx context.Context, _ *policy.Snapshot) (*policy.Plan, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, fallback.Deadline, "deadline exceeded"},
	{"a hang for minutes", func(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
		time.Sleep(10 * time.Minute)
		return fifo(ctx, s)
	}, fallback.Deadline, "has not returned"},
	{"NaN", spoilt(func(_ *policy.Snapshot, p *policy.Plan) { p.Stats.Objective = math.NaN() }), fallback.Check, "want finite"},
	{"too many GPUs", spoilt(func(_ *policy.Snapshot, p *policy.Plan) {
		for i := range p.Jobs {
			p.Jobs[i].Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a"}
		}
	}), fallback.Check, "plan refused"},
	{"a decision too few", spoilt(func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs = p.Jobs[1:] }), fallback.Check, "one per job"},
}

// snapshot returns two jobs on four GPUs of one node.
func snapshot(t testing.TB) *policy.Snapshot {
	w := policytest.NewToy(t, 4)
	w.Submit("a", 2, time.Hour)
	w.Submit("b", 2, time.Hour)
	return w.Snapshot()
}

func TestPlan_survives(t *testing.T) {
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, f := snapshot(t), wrap(t, bug.p)
				first := time.Now()
				_, err := f.Plan(t.Context(), s)
				if err == nil || !strings.Contains(err.Error(), bug.says) {
					t.Errorf("first failure: got %v, want %q", err, bug.says)
				}
				if took := time.Since(first); took > 45*time.Second {
					t.Errorf("took %v, want at most three quarters of the round", took)
				}
				if st := f.State(); st.Failures != 1 || st.Cause != bug.cause || st.Active {
					t.Errorf("first failure: %+v, want 1 by %v", st, bug.cause)
				}
				p, err := f.Plan(t.Context(), s)
				if err != nil {
					t.Fatalf("second failure: %v, want a plan of the queue", err)
				}
				if err := policy.Check(s, p); err != nil {
					t.Error(err)
				}
				if st := f.State(); st.Failures != 2 || !st.Active || p.Jobs[0].Allocation.GPUs != 2 || p.Jobs[1].Allocation.GPUs != 2 {
					t.Errorf("second failure: %+v, plan %+v, want the queue's with all GPUs", st, p.Jobs)
				}
				time.Sleep(time.Hour) // who hangs, ends
			})
		})
	}
}

// TestPlan_seeded_bugs: what the wrapper is there for reaches those who ask without it.
func TestPlan_seeded_bugs(t *testing.T) {
	for _, bug := range bugs {
		if bug.cause != fallback.Check {
			continue
		}
		s := snapshot(t)
		p, err := bug.p.Plan(t.Context(), s)
		if err != nil || policy.Check(s, p) == nil {
			t.Errorf("%s: plan passes unwrapped, or is none (%v): want a bug", bug.name, err)
		}
	}
}

func TestPlan_returns_to_the_policy(t *testing.T) {
	s, healthy, asked := snapshot(t), false, 0
	f := wrap(t, planner(func(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
		if asked++; !healthy {
			return nil, errors.New("no")
		}
		return fifo(ctx, s)
	}))
	for i, want := range []fallback.State{{Failures: 1}, {Failures: 2, Active: true}, {Failures: 3, Active: true}, {}, {Failures: 1}, {Failures: 2, Active: true}} {
		healthy = i == 3
		p, err := f.Plan(t.Context(), s)
		st := f.State()
		if st.Failures != want.Failures || st.Active != want.Active || asked != i+1 {
			t.Errorf("round %d, asked %d times: %+v, want %+v", i, asked, st, want)
		}
		if good := healthy || want.Active; good != (err == nil && p != nil) {
			t.Errorf("round %d: plan %v, error %v", i, p, err)
		}
	}
}

// TestPlan_leaves_a_late_policy_alone: while it plans, nobody asks it again; then one does.
func TestPlan_leaves_a_late_policy_alone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s := snapshot(t)
		f := wrap(t, planner(func(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
			if asked.Add(1) == 1 {
				time.Sleep(90 * time.Second)
			}
			return fifo(ctx, s)
		}))
		for i, want := range []string{"1 asked, 1 failed", "1 asked, 2 failed", "2 asked, 0 failed"} {
			start := time.Now()
			f.Plan(t.Context(), s) //nolint:errcheck // the state says it
			if got := fmt.Sprintf("%d asked, %d failed", asked.Load(), f.State().Failures); got != want {
				t.Errorf("round %d: %s, want %s", i, got, want)
			}
			time.Sleep(time.Minute - time.Since(start))
			synctest.Wait()
		}
	})
}

// TestPlan_takes_what_an_anytime_policy_has: a plan just after the deadline is good.
func TestPlan_takes_what_an_anytime_policy_has(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := wrap(t, planner(func(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
			<-ctx.Done()
			p, err := fifo(context.WithoutCancel(ctx), s)
			p.Stats.Interrupted = true
			return p, err
		}))
		p, err := f.Plan(t.Context(), snapshot(t))
		if err != nil || !p.Stats.Interrupted || f.State().Failures != 0 {
			t.Errorf("got %v, %v, state %+v, want the interrupted plan", p, err, f.State())
		}
	})
}

func TestPlan_a_stop_is_no_failure(t *testing.T) {
	f := wrap(t, planner(fifo))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Plan(ctx, snapshot(t)); !errors.Is(err, context.Canceled) || f.State().Failures != 0 {
		t.Errorf("got %v, state %+v, want context.Canceled and no failure", err, f.State())
	}
	ctx, cancel = context.WithCancel(t.Context())
	f = wrap(t, planner(func(ctx context.Context, _ *policy.Snapshot) (*policy.Plan, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	if _, err := f.Plan(ctx, snapshot(t)); !errors.Is(err, context.Canceled) || f.State().Failures != 0 {
		t.Errorf("got %v, state %+v, want context.Canceled and no failure", err, f.State())
	}
}

// TestConformance: around a good policy, around one that fails in two rounds of three, and
// around one that always does.
func TestConformance(t *testing.T) {
	o := fallback.Options{Deadline: time.Hour, After: 1}
	for name, fails := range map[string]func(round int) bool{
		"good":    func(int) bool { return false },
		"at odds": func(round int) bool { return round%3 > 0 },
		"bad":     func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			policytest.Run(t, func() policy.Policy {
				f, err := fallback.New(planner(func(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
					if fails(s.Round) {
						panic("seeded")
					}
					return fifo(ctx, s)
				}), o)
				if err != nil {
					t.Fatal(err)
				}
				return f
			})
		})
	}
}

func TestOptions_Validate(t *testing.T) {
	for _, tc := range []struct {
		o    fallback.Options
		want string
	}{
		{fallback.DefaultOptions(time.Minute), ""},
		{fallback.Options{Deadline: 0, After: 3}, "deadline 0s"},
		{fallback.Options{Deadline: 25 * time.Hour, After: 3}, "deadline 25h"},
		{fallback.Options{Deadline: time.Second, After: 0}, "after 0 failures"},
		{fallback.Options{Deadline: time.Second, After: 1001}, "after 1001 failures"},
	} {
		_, err := fallback.New(planner(fifo), tc.o)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: got %v, want %q", tc.o, err, tc.want)
		}
	}
}

func TestCauses_have_names(t *testing.T) {
	for _, c := range fallback.Causes() {
		if c == fallback.None || c.String() == "" {
			t.Errorf("cause %d: name %q", c, c)
		}
	}
}

// TestPlan_leaves_what_runs_alone: the queue does not take from a job what another policy
// gave it, be it more than it asks for, and serves who waits.
func TestPlan_leaves_what_runs_alone(t *testing.T) {
	w := policytest.NewToy(t, 4)
	w.Elastic("wide", 4, time.Hour)
	healthy := true
	f := wrap(t, planner(func(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
		if !healthy {
			return nil, errors.New("no")
		}
		p := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
		p.Jobs[0].Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 3, GPUType: "a"}
		return p, nil
	}))
	w.Play(f)
	w.Submit("late", 1, time.Hour)
	healthy = false
	s := w.Snapshot()
	f.Plan(t.Context(), s) //nolint:errcheck // the first failure
	p, err := f.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := p.Jobs[0].Allocation.GPUs, p.Jobs[1].Allocation.GPUs; a != 3 || b != 1 {
		t.Errorf("wide has %d GPUs and late %d, want 3 and 1", a, b)
	}
}
