package policytest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// enough is how many worlds have all that policies find hard, and show each seeded bug, under
// any seed: rarest are a job on loan that may not be preempted, one that begins anew, and a
// cluster of which nothing is there, each in 1 world of 21 to 24, so that all 500 lack it
// once in 10^9 times.
const enough = 500

// A planner is a policy that lets every job keep what it has, spoilt by a
// function.
type planner func(s *policy.Snapshot, p *policy.Plan)

func (planner) Traits() policy.Traits { return policy.Traits{} }

func (f planner) Plan(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p := stay(s)
	f(s, p)
	return p, nil
}

func stay(s *policy.Snapshot) *policy.Plan {
	p := &policy.Plan{}
	for _, j := range s.Jobs {
		p.Jobs = append(p.Jobs, policy.Decision{Allocation: j.Allocation, Placement: j.Placement, Why: policy.Reason{Kind: policy.Evicted}})
	}
	return p
}

// A recorder is a rapid.TB that remembers whether the test failed.
type recorder struct {
	*testing.T
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }
func (r *recorder) Error(...any)          { r.failed = true }
func (r *recorder) Fatal(...any)          { r.failed = true; runtime.Goexit() }
func (r *recorder) FailNow()              { r.failed = true; runtime.Goexit() }
func (r *recorder) Fail()                 { r.failed = true }
func (r *recorder) Failed() bool          { return r.failed }
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Log(...any)            {}

func fails(t *testing.T, property func(*rapid.T)) bool {
	t.Helper()
	r, done := &recorder{T: t}, make(chan struct{})
	go func() {
		defer close(done)
		rapid.Check(r, property)
	}()
	<-done
	return r.failed
}

// TestSuiteCatchesSeededBugs plays policies that each break the contract in
// one way.
func TestSuiteCatchesSeededBugs(t *testing.T) {
	draws.AtLeast(t, enough)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	calls := 0
	tests := map[string]struct {
		check func(*rapid.T, planner)
		bug   planner
	}{
		"grants GPUs there are none of": {
			func(t *rapid.T, p planner) { keepsRules(t, p) },
			func(s *policy.Snapshot, p *policy.Plan) {
				for i, j := range s.Jobs {
					c := cluster.Configuration{Nodes: 1, GPUs: max(1, j.GPUs), GPUType: s.Cluster.Types()[0].Type}
					p.Jobs[i] = policy.Decision{Allocation: cluster.Allocation{Configuration: c}}
				}
			},
		},
		"wants more nodes than are offered": {
			func(t *rapid.T, p planner) { keepsRules(t, p) },
			func(s *policy.Snapshot, p *policy.Plan) {
				for _, r := range s.Rentals {
					p.Capacity = map[cluster.Group]int{r.Group: r.Ready + r.Starting + 1}
				}
			},
		},
		"wants more nodes than are spare": {
			func(t *rapid.T, p planner) { keepsRules(t, p) },
			func(s *policy.Snapshot, p *policy.Plan) {
				for _, l := range s.Loans {
					p.Capacity = map[cluster.Group]int{l.Group: l.Lent + l.Spare + 1}
				}
			},
		},
		"gives back a node under a job": {
			func(t *rapid.T, p planner) { keepsRules(t, p) },
			func(s *policy.Snapshot, p *policy.Plan) {
				for _, l := range s.Loans {
					p.Capacity = map[cluster.Group]int{l.Group: l.Lent + l.Spare}
				}
				squat(s, p)
			},
		},
		"modifies what is lent": {
			func(t *rapid.T, p planner) { keepsRules(t, p) },
			func(s *policy.Snapshot, _ *policy.Plan) {
				for i := range s.Loans {
					s.Loans[i].Load = 2
				}
			},
		},
		"returns what it pleases": {
			func(t *rapid.T, p planner) { sameBytes(t, p, p) },
			func(_ *policy.Snapshot, p *policy.Plan) { calls++; p.Return = make([]cluster.NodeID, calls) },
		},
		"modifies what is rented": {
			func(t *rapid.T, p planner) { keepsRules(t, p) },
			func(s *policy.Snapshot, _ *policy.Plan) {
				for i := range s.Rentals {
					s.Rentals[i].Ready++
				}
			},
		},
		"modifies the snapshot": {
			func(t *rapid.T, p planner) { keepsRules(t, p) },
			func(s *policy.Snapshot, _ *policy.Plan) {
				for _, j := range s.Jobs {
					j.Restarts++
				}
			},
		},
		"counts its calls in a global variable": {
			func(t *rapid.T, p planner) { sameBytes(t, p, p) },
			func(_ *policy.Snapshot, p *policy.Plan) { calls++; p.Stats.Iterations = calls },
		},
	}
	if fails(t, func(t *rapid.T) { keepsRules(t, planner(func(*policy.Snapshot, *policy.Plan) {})) }) {
		t.Fatal("the suite failed without a bug")
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if !fails(t, func(t *rapid.T) { test.check(t, test.bug) }) {
				t.Fatal("the suite passed")
			}
		})
	}
}

// squat gives back a node on loan, and puts a job there.
func squat(s *policy.Snapshot, p *policy.Plan) {
	for _, n := range s.Cluster.Nodes() {
		for i, j := range s.Jobs {
			if n.Tenure == cluster.Loaned && !j.Holding() && j.Allows(cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: n.GPUType}) {
				one := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: n.GPUType}}
				p.Jobs[i] = policy.Decision{Allocation: one, Placement: cluster.Placement{{Node: n.ID, Resources: cluster.Resources{GPUs: 1}}}}
				p.Return = []cluster.NodeID{n.ID}
				return
			}
		}
	}
}

// A thinker is a policy whose work returns how often it has planned; Iterations of
// a plan is what was last computed. A bug spoils it.
type thinker struct {
	bug          string
	plans, known int
	asked        bool
}

func (*thinker) Traits() policy.Traits { return policy.Traits{} }

func (p *thinker) Plan(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan := stay(s)
	if p.bug == "cannot wait" && p.asked && s.Computed == nil {
		return nil, errors.New("nothing was computed")
	}
	switch got := s.Computed.(type) {
	case int:
		p.known = got
	case error:
		if p.bug == "takes errors for results" {
			panic(got)
		}
		plan.Stats.Failed = got.Error()
	}
	plan.Stats.Iterations = p.known
	p.plans++
	n := p.plans
	p.asked = true
	plan.Background = func(context.Context) any {
		switch p.bug {
		case "work that changes its policy":
			p.plans++
		case "work that reads what later plans change":
			return p.plans
		case "work that panics":
			panic("out of luck")
		}
		return n
	}
	return plan, nil
}

func TestSuiteCatchesSeededBugsOfBackgroundWork(t *testing.T) {
	draws.AtLeast(t, enough)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rules := func(bug string) func(*rapid.T) {
		return func(t *rapid.T) { keepsRules(t, &thinker{bug: bug}) }
	}
	same := func(bug string) func(*rapid.T) {
		return func(t *rapid.T) { sameBytes(t, &thinker{bug: bug}, &thinker{bug: bug}) }
	}
	if fails(t, rules("")) || fails(t, same("")) {
		t.Fatal("the suite failed without a bug")
	}
	for bug, property := range map[string]func(string) func(*rapid.T){
		"cannot wait": rules, "takes errors for results": rules, "work that panics": rules,
		"work that changes its policy": same, "work that reads what later plans change": same,
	} {
		if !fails(t, property(bug)) {
			t.Errorf("%s: the suite passed", bug)
		}
	}
	idle := planner(func(*policy.Snapshot, *policy.Plan) {})
	busy := planner(func(_ *policy.Snapshot, p *policy.Plan) {
		p.Background = func(context.Context) any { return 7 }
	})
	if !fails(t, func(t *rapid.T) { sameBytes(t, idle, busy) }) {
		t.Error("work of one of two policies: the suite passed")
	}
}

// TestWorlds checks that the worlds keep their own rules, whatever the plan,
// and that they hold what policies find hard.
func TestWorlds(t *testing.T) {
	draws.AtLeast(t, enough)
	seen := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rounds {
			s := w.Snapshot()
			plan := stay(s)
			plan.Capacity = drawCapacity(t, seen, s)
			for _, j := range s.Jobs {
				count(seen, j)
				if j.Sensitivity != nil && slices.ContainsFunc(s.Cluster.Types(), func(t cluster.TypeInfo) bool { return t.Counts() }) {
					seen["sensitive where CPUs count"]++
				}
			}
			countComputed(seen, s)
			plan.Background = func(context.Context) any { return s.Round }
			if err := policy.Check(s, plan); err != nil {
				t.Fatalf("what jobs hold breaks a rule: %v\n%s", err, describeSnapshot(s))
			}
			w.Advance(t, plan)
		}
	})
	for _, want := range []string{"holding", "waiting", "profiling", "non-preemptive holding", "reservation", "pipeline", "no model", "restarted", "sensitive where CPUs count", "computed", "computed late", "failed", "rented", "returned", "starting", "refused", "nothing there"} {
		if seen[want] == 0 {
			t.Errorf("no world has a job, or background work, that is %q; seen: %s", want, fmt.Sprint(seen))
		}
	}
}

// drawCapacity draws how many rented nodes are wanted, and counts how it stands with them.
func drawCapacity(t *rapid.T, seen map[string]int, s *policy.Snapshot) map[cluster.Group]int {
	if len(s.Rentals) == 0 {
		return nil
	}
	r := &s.Rentals[0]
	want := rapid.IntRange(0, r.Most).Draw(t, "nodes wanted")
	for what, is := range map[string]bool{
		"rented": want > r.Ready, "returned": want < r.Ready, "starting": r.Starting > 0, "refused": r.Refused, "nothing there": len(s.Cluster.Nodes()) == 0,
	} {
		if is {
			seen[what]++
		}
	}
	return map[cluster.Group]int{r.Group: want}
}

// countComputed counts what came of background work that returns its round.
func countComputed(seen map[string]int, s *policy.Snapshot) {
	switch began := s.Computed.(type) {
	case int:
		seen["computed"]++
		if began < s.Round-1 {
			seen["computed late"]++
		}
	case error:
		seen["failed"]++
	}
}

func count(seen map[string]int, j *policy.Job) {
	note := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	note("holding", j.Holding())
	note("waiting", j.Phase == job.Waiting)
	note("profiling", j.Phase == job.Profiling)
	note("non-preemptive holding", j.Holding() && j.NonPreemptive)
	note("reservation", !j.Reservation.IsZero())
	note("pipeline", j.GPUsPerReplica != nil)
	note("no model", j.Perf == nil)
	note("restarted", j.Restarts > 0)
}
