package lyra_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// An invariant says what is wrong with a plan; nil: nothing.
type invariant func(s *policy.Snapshot, p *policy.Plan) error

// invariants are what every plan keeps, whatever the settings.
var invariants = map[string]invariant{
	"what is asked back goes back at once": goesBack,
	"jobs keep their base demand":          keepsBase,
	"non-preemptive jobs stay as they are": staysPut,
	"jobs get what their limits allow":     withinLimits,
}

// TestInvariants plays the policy, with all settings, in worlds in which nodes are lent, each
// invariant by itself. Errors are for TestRules.
func TestInvariants(t *testing.T) {
	for name, check := range invariants {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				play(t, drawn(t), func(s *policy.Snapshot, p *policy.Plan, err error) (wrong error) {
					if err == nil {
						wrong = check(s, p)
					}
					return wrong
				})
			})
		})
	}
}

// TestRules: every plan passes the checks of all plans, with all settings.
func TestRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		play(t, drawn(t), func(s *policy.Snapshot, p *policy.Plan, err error) error {
			if err == nil {
				err = policy.Check(s, p)
			}
			if err == nil {
				err = policy.CheckPlacement(s, p)
			}
			return err
		})
	})
}

// TestPlansAreRepeatable: two policies made the same way plan the same, with all settings.
func TestPlansAreRepeatable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawn(t)
		twin := made(t, o)
		play(t, o, func(s *policy.Snapshot, got *policy.Plan, err error) error {
			want, again := ask(twin, s)
			if fmt.Sprint(err) != fmt.Sprint(again) || !reflect.DeepEqual(got, want) {
				return fmt.Errorf("two policies made the same way plan\n%+v, %w\nand\n%+v, %w", got, err, want, again)
			}
			return nil
		})
	})
}

// TestPlansAreAsIfReadAnew: what a policy remembers of jobs whose rows did not change makes no difference, with all
// settings.
func TestPlansAreAsIfReadAnew(t *testing.T) {
	resumed := 0
	rapid.Check(t, func(t *rapid.T) {
		o := drawn(t)
		p, fresh := made(t, o), made(t, o)
		w := policytest.NewLendingWorld(t)
		for range 12 {
			s := w.Snapshot()
			lyra.Forget(fresh)
			got, err := ask(p, s)
			want, other := ask(fresh, s)
			if fmt.Sprint(err) != fmt.Sprint(other) || !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d: remembering plans\n%+v, %v\nand reading anew\n%+v, %v", s.Round, got, err, want, other)
			}
			if resumed += lyra.Resumed(p); err != nil || policy.Check(s, got) != nil {
				return
			}
			w.Advance(t, got)
		}
	})
	if resumed == 0 {
		t.Error("no job was remembered")
	}
}

// play shows a policy eight rounds of a world, unless it breaks the rules of all policies, and
// fails where an answer is not as it should be.
func play(t *rapid.T, o lyra.Options, check func(*policy.Snapshot, *policy.Plan, error) error) {
	w, p := policytest.NewLendingWorld(t), made(t, o)
	for range 8 {
		s := w.Snapshot()
		plan, err := ask(p, s)
		if wrong := check(s, plan, err); wrong != nil {
			t.Fatalf("round %d: %v\n%s", s.Round, wrong, describe(s, plan))
		}
		if err != nil || policy.Check(s, plan) != nil {
			return
		}
		w.Advance(t, plan)
	}
}

// ask asks a policy for a plan. As a scheduler does, it takes a panic for an error, and gives
// allocations without CPUs their share.
func ask(p policy.Policy, s *policy.Snapshot) (plan *policy.Plan, err error) {
	defer func() {
		if r := recover(); r != nil {
			plan, err = nil, fmt.Errorf("policy panicked: %v", r)
		}
	}()
	if plan, err = p.Plan(context.Background(), s); err == nil {
		policy.FillProportional(s, plan)
	}
	return plan, err
}

// drawn draws settings: how servers are chosen that go back, what runs on those on loan, and
// who grows.
func drawn(t *rapid.T) lyra.Options {
	o := lyra.DefaultOptions()
	o.Reclaim.Rule = rapid.SampledFrom([]reclaim.Rule{reclaim.Exact, reclaim.Greedy, reclaim.Random, reclaim.SCF}).Draw(t, "rule")
	o.Loan = rapid.SampledFrom([]lyra.Loan{lyra.Borrow, lyra.Opportunity, lyra.NoLoan}).Draw(t, "loan")
	o.Allocate.Growth = rapid.SampledFrom([]allocate.Growth{allocate.Knapsack, allocate.None, allocate.Gandiva, allocate.AFS}).Draw(t, "growth")
	o.Group, o.Foresee = rapid.Bool().Draw(t, "group"), rapid.Bool().Draw(t, "foresee")
	return o
}

// made returns a policy.
func made(t *rapid.T, o lyra.Options) *lyra.Policy {
	p, err := lyra.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// goesBack: no job is on a node that goes back; of every owner as many do as it asks for, in
// this very round, except those of jobs that are non-preemptive; and no more. Reservations
// may stay, too. Source: Lyra §4, "until N_R servers are vacated".
func goesBack(s *policy.Snapshot, p *policy.Plan) error {
	for i, j := range s.Jobs {
		where := p.Jobs[i].Placement
		if where == nil && p.Jobs[i].Allocation == j.Allocation {
			where = j.Placement
		}
		if touches(where, p.Return) {
			return fmt.Errorf("job %s is on %v, want it off what goes back, %v", j.ID, where, p.Return)
		}
	}
	for i := range s.Loans {
		l := &s.Loans[i]
		able, back := vacable(s, p, l.Group)
		if want := min(l.Reclaim, able); back < want || back > l.Reclaim {
			return fmt.Errorf("group %s: %d nodes go back, want %d of %d asked for", l.Group, back, want, l.Reclaim)
		}
	}
	return nil
}

// vacable returns how many nodes of a group may go back, and how many do.
func vacable(s *policy.Snapshot, p *policy.Plan, g cluster.Group) (able, back int) {
	stays := make(map[cluster.NodeID]bool)
	for _, j := range s.Jobs {
		for _, share := range j.Placement {
			stays[share.Node] = stays[share.Node] || j.NonPreemptive || !j.Reservation.IsZero()
		}
	}
	for _, n := range s.Cluster.Nodes() {
		if n.Tenure != cluster.Loaned || n.Group != g {
			continue
		}
		if !stays[n.ID] {
			able++
		}
		if _, goes := slices.BinarySearch(p.Return, n.ID); goes {
			back++
		}
	}
	return able, back
}

// keepsBase: a job that runs keeps its base demand, on nodes that it is on, unless one of them
// goes back, or a reservation takes their GPUs. Source: Lyra §5.2, "preemption only happens
// during reclaiming when it becomes inevitable".
func keepsBase(s *policy.Snapshot, p *policy.Plan) error {
	taken := crowded(s, p)
	for i, j := range s.Jobs {
		if !j.Holding() || touches(j.Placement, p.Return) || touches(j.Placement, taken) || !j.Reservation.IsZero() {
			continue
		}
		want := j.Allocation.GPUs
		if least, _ := amounts(j, j.Allocation.GPUType); least < want {
			want = least
		}
		if got := p.Jobs[i].Placement.Common(j.Placement); got < want {
			return fmt.Errorf("job %s keeps %d of its GPUs, want at least %d: %v", j.ID, got, want, p.Jobs[i])
		}
	}
	return nil
}

// crowded returns, in ascending order, the nodes on which reservations are placed that have too
// little for them beside what jobs hold there.
func crowded(s *policy.Snapshot, p *policy.Plan) []cluster.NodeID {
	used := make(map[cluster.NodeID]cluster.Resources)
	add := func(where cluster.Placement) {
		for _, share := range where {
			u := used[share.Node]
			used[share.Node] = cluster.Resources{GPUs: u.GPUs + share.GPUs, CPUs: u.CPUs + share.CPUs, Memory: u.Memory + share.Memory}
		}
	}
	for i, j := range s.Jobs {
		add(j.Placement)
		if now := p.Jobs[i].Placement; !j.Reservation.IsZero() && !now.Equal(j.Placement) {
			add(now)
		}
	}
	var full []cluster.NodeID
	for _, n := range s.Cluster.Nodes() {
		u, has := used[n.ID], n.Capacity
		if u.GPUs > has.GPUs || has.CPUs > 0 && (u.CPUs > has.CPUs*(1+1e-9) || u.Memory > has.Memory) {
			full = append(full, n.ID)
		}
	}
	slices.Sort(full)
	return full
}

// staysPut: a non-preemptive job that runs keeps exactly what it has, where it is.
func staysPut(s *policy.Snapshot, p *policy.Plan) error {
	for i, j := range s.Jobs {
		if d := &p.Jobs[i]; j.NonPreemptive && j.Holding() && (d.Allocation != j.Allocation || !d.Placement.Equal(j.Placement)) {
			return fmt.Errorf("job %s is non-preemptive and gets %+v, want %+v on %v", j.ID, *d, j.Allocation, j.Placement)
		}
	}
	return nil
}

// withinLimits: what a job is granted anew is of a type that it may use, and in an amount
// between its least and most in GPUs of that type; on two types, in GPUs that the job counts.
func withinLimits(s *policy.Snapshot, p *policy.Plan) error {
	for i, j := range s.Jobs {
		a := &p.Jobs[i].Allocation
		if a.IsZero() || a.SameGPUs(&j.Allocation) || !j.Reservation.IsZero() {
			continue
		}
		got := float64(a.GPUs)
		least, most := amounts(j, a.GPUType)
		if a.Mixed() {
			got = j.Worth(a)
			least, most = amounts(j, "")
		}
		eligible := j.Eligible(a.GPUType) && (!a.Mixed() || j.Eligible(a.Also.GPUType))
		if got < float64(least) || most > 0 && got > float64(most) || !eligible {
			return fmt.Errorf("job %s gets %v, want %d to %d GPUs (0: any number) of %v", j.ID, *a, least, most, j.GPUTypes)
		}
	}
	return nil
}

// amounts returns the fewest and most GPUs of a type that a job may have; 0: no limit. A type
// of which several GPUs do the work of one counts so many times.
func amounts(j *policy.Job, t cluster.GPUType) (least, most int) {
	worth := max(1, j.Equivalents[t])
	if least, most = max(1, j.Spec.MinGPUs), j.Spec.MaxGPUs; !j.Adaptivity.Has(job.GPUCount) {
		least, most = max(1, j.GPUs), max(1, j.GPUs)
	}
	return least * worth, most * worth
}

// touches reports whether a placement is on one of the nodes, which are in ascending order.
func touches(p cluster.Placement, nodes []cluster.NodeID) bool {
	return slices.ContainsFunc(p, func(share cluster.Share) bool {
		_, on := slices.BinarySearch(nodes, share.Node)
		return on
	})
}

// describe prints what was planned, and for what.
func describe(s *policy.Snapshot, p *policy.Plan) string {
	var b strings.Builder
	for _, n := range s.Cluster.Nodes() {
		fmt.Fprintf(&b, "node %s: %d GPUs, group %q\n", n.ID, n.Capacity.GPUs, n.Group)
	}
	fmt.Fprintf(&b, "loans %+v\n", s.Loans)
	for i, j := range s.Jobs {
		fmt.Fprintf(&b, "job %+v\n  %+v\n", *j.Spec, j.Status)
		if p != nil {
			fmt.Fprintf(&b, "  gets %+v\n", p.Jobs[i])
		}
	}
	if p != nil {
		fmt.Fprintf(&b, "goes back: %v, wanted: %v\n", p.Return, p.Capacity)
	}
	return b.String()
}

// held returns so many GPUs of a type, and the nodes of them, one each.
func held(t cluster.GPUType, nodes ...cluster.NodeID) policy.Decision {
	d := policy.Decision{Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: len(nodes), GPUs: len(nodes), GPUType: t}}}
	for _, id := range nodes {
		d.Placement = append(d.Placement, cluster.Share{Node: id, Resources: cluster.Resources{GPUs: 1}})
	}
	return d
}

// village is two nodes that are owned and two that are lent, of which one is asked back. An
// elastic job holds two GPUs of its own, and one that is non-preemptive has one on loan. In its
// plan they keep what they have.
func village(t *testing.T) (*policy.Snapshot, *policy.Plan) {
	t.Helper()
	lent := cluster.Node{GPUType: "t4", Group: "g", Tenure: cluster.Loaned, Capacity: cluster.Resources{GPUs: 4}}
	own := cluster.Node{GPUType: "v100", Capacity: cluster.Resources{GPUs: 4}}
	nodes := []cluster.Node{own, own, lent, lent}
	for i, id := range []cluster.NodeID{"a", "b", "c", "d"} {
		nodes[i].ID = id
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	loan := cluster.Loan{Group: "g", Node: lent, Nodes: 2, Lent: 2, Reclaim: 1}
	s, p := &policy.Snapshot{Cluster: c, Loans: []cluster.Loan{loan}}, &policy.Plan{Return: []cluster.NodeID{"d"}}
	for _, spec := range []*job.Spec{
		{ID: "elastic", GPUs: 1, MaxGPUs: 2, Adaptivity: job.StrongScaling, Equivalents: map[cluster.GPUType]int{"t4": 3}},
		{ID: "stays", GPUs: 1, NonPreemptive: true},
	} {
		d := held("v100", "a", "b")
		if spec.NonPreemptive {
			d = held("t4", "c")
		}
		row := &policy.Job{Spec: spec, Status: job.Status{Phase: job.Running, Allocation: d.Allocation, Placement: d.Placement}}
		s.Jobs, p.Jobs = append(s.Jobs, row), append(p.Jobs, d)
	}
	return s, p
}

// TestInvariants_catch spoils a plan in one way at a time.
func TestInvariants_catch(t *testing.T) {
	for _, test := range []struct {
		name, broken string // broken: by which invariant it is caught; empty: it is fine
		spoil        func(s *policy.Snapshot, p *policy.Plan)
	}{
		{"a good plan", "", func(*policy.Snapshot, *policy.Plan) {}},
		{"a flexible worker leaves", "", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0] = held("v100", "b") }},
		{"a reservation takes GPUs", "", func(s *policy.Snapshot, p *policy.Plan) {
			d := held("v100", "a")
			d.Allocation.GPUs, d.Placement[0].GPUs = 4, 4
			s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: "reserved", Reservation: d.Allocation.Configuration}})
			p.Jobs = []policy.Decision{{}, p.Jobs[1], d}
		}},
		{"nothing goes back", "what is asked back goes back at once", func(_ *policy.Snapshot, p *policy.Plan) { p.Return = nil }},
		{"more goes back than is asked for", "what is asked back goes back at once", func(s *policy.Snapshot, _ *policy.Plan) { s.Loans[0].Reclaim = 0 }},
		{"a node goes back under a job", "what is asked back goes back at once", func(_ *policy.Snapshot, p *policy.Plan) { p.Return[0] = "c" }},
		{"a job is preempted", "jobs keep their base demand", func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[0] = policy.Decision{} }},
		{"a reservation has room elsewhere", "jobs keep their base demand", func(s *policy.Snapshot, p *policy.Plan) {
			d := held("v100", "a")
			s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: "reserved", Reservation: d.Allocation.Configuration}})
			p.Jobs = []policy.Decision{{}, p.Jobs[1], d}
		}},
		{"another place", "non-preemptive jobs stay as they are", func(s *policy.Snapshot, p *policy.Plan) {
			s.Jobs[1].Placement = held("t4", "d").Placement
			p.Return = []cluster.NodeID{"d"}
		}},
		{"too many GPUs", "jobs get what their limits allow", func(_ *policy.Snapshot, p *policy.Plan) {
			p.Jobs[0].Allocation.GPUs, p.Jobs[0].Placement[0].GPUs = 3, 2
		}},
		{"too few GPUs of another worth", "jobs get what their limits allow", func(s *policy.Snapshot, p *policy.Plan) {
			s.Jobs[0].Allocation, s.Jobs[0].Placement = cluster.Allocation{}, nil
			p.Jobs[0] = held("t4", "c")
		}},
		{"too few GPUs of two types", "jobs get what their limits allow", func(s *policy.Snapshot, p *policy.Plan) {
			s.Jobs[0].GPUs, s.Jobs[0].Spec.MinGPUs = 2, 2
			s.Jobs[0].Allocation, s.Jobs[0].Placement = cluster.Allocation{}, nil
			p.Jobs[0] = held("v100", "a")
			p.Jobs[0].Allocation.Also = cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "t4"}
		}},
	} {
		s, p := village(t)
		test.spoil(s, p)
		for name, check := range invariants {
			err := check(s, p)
			if test.broken == "" && err != nil {
				t.Errorf("%s: %s: got %v, want nothing wrong", test.name, name, err)
			}
			if name == test.broken && err == nil {
				t.Errorf("%s: nothing wrong, want it to break %q", test.name, name)
			}
		}
	}
}
