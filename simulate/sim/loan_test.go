package sim_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A borrower is another policy and placer, with all that is spare borrowed. Of nodes that it
// may vacate it gives back any number, and preempts what runs there; if it is obedient, as
// many as are asked back, if it is stubborn, none.
type borrower struct {
	policy.Policy
	placement.Placer
	obedient, stubborn bool
	dice               *rand.Rand
	view               *policy.Snapshot // of the last Plan, less what goes back
}

// Plan implements policy.Policy.
func (p *borrower) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	back := p.choose(s)
	p.view = without(s, back)
	plan, err := p.Policy.Plan(ctx, p.view)
	if err != nil {
		return nil, err
	}
	for i, j := range s.Jobs {
		if p.view.Jobs[i] != j { // it is preempted for this round
			plan.Jobs[i] = policy.Decision{Why: policy.Reason{Kind: policy.Evicted}}
		}
	}
	plan.Capacity, plan.Return = make(map[cluster.Group]int), back
	for i := range s.Loans {
		plan.Capacity[s.Loans[i].Group] = s.Loans[i].Lent + s.Loans[i].Spare
	}
	return plan, nil
}

// Place implements placement.Placer.
func (p *borrower) Place(ctx context.Context, _ *policy.Snapshot, plan *policy.Plan) (*policy.Plan, error) {
	return p.Placer.Place(ctx, p.view, plan)
}

// choose returns the nodes that go back, in ascending order.
func (p *borrower) choose(s *policy.Snapshot) []cluster.NodeID {
	if p.stubborn {
		return nil
	}
	var back []cluster.NodeID
	for i := range s.Loans {
		l := &s.Loans[i]
		most := l.Reclaim
		if !p.obedient {
			most = p.dice.IntN(l.Lent + 1)
		}
		free := vacable(s, l.Group)
		p.dice.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
		back = append(back, free[:min(most, len(free))]...)
	}
	slices.Sort(back)
	return back
}

// vacable returns the nodes of a group on which no job is that has to stay.
func vacable(s *policy.Snapshot, g cluster.Group) []cluster.NodeID {
	stays := make(map[cluster.NodeID]bool)
	for _, j := range s.Jobs {
		for _, share := range j.Placement {
			stays[share.Node] = stays[share.Node] || j.NonPreemptive || !j.Reservation.IsZero()
		}
	}
	var free []cluster.NodeID
	for _, n := range s.Cluster.Nodes() {
		if n.Tenure == cluster.Loaned && n.Group == g && !stays[n.ID] {
			free = append(free, n.ID)
		}
	}
	return free
}

// without returns what is left of a snapshot without some nodes: jobs on them wait.
func without(s *policy.Snapshot, gone []cluster.NodeID) *policy.Snapshot {
	if len(gone) == 0 {
		return s
	}
	is := func(id cluster.NodeID) bool { return slices.Contains(gone, id) }
	view := *s
	view.Cluster, view.Jobs = s.Cluster.Without(is), slices.Clone(s.Jobs)
	for i, j := range view.Jobs {
		if slices.ContainsFunc(j.Placement, func(share cluster.Share) bool { return is(share.Node) }) {
			row := *j
			row.Phase, row.Allocation, row.Placement = job.Waiting, cluster.Allocation{}, nil
			view.Jobs[i] = &row
		}
	}
	return &view
}

// An overseer is between a world and a scheduler, and collects violations of the rules of loans:
//
//  1. Of what is asked back nothing is lent after its time, unless a later review needed
//     less: what is lent is never more than the most that could be lent since the last
//     review that is a grace ago, and the headroom is never among it.
//  2. Nodes are there only while they are lent, and no more are lent and spare than there
//     are; none are spare while some are asked back.
//  3. A node that is not there any more was empty, or its jobs were told that they are lost.
//  4. The owner ends jobs only when nodes that it asked for are due.
type overseer struct {
	scheduler.Backend
	o     sim.Lender
	loans []cluster.Loan // as told last
	there *cluster.Cluster
	jobs  map[job.ID]cluster.Placement
	lost  int // jobs that an owner ended
	most  int // nodes lent at a time
	errs  []string
}

func (w *overseer) complain(format string, args ...any) {
	w.errs = append(w.errs, w.Now().Sub(sim.Epoch).String()+": "+fmt.Sprintf(format, args...))
}

// Next implements scheduler.Backend.
func (w *overseer) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	ev, err := w.Backend.Next(ctx, deadline)
	switch ev := ev.(type) {
	case nil:
		if err == nil {
			w.bounds()
		}
	case scheduler.Exited:
		if strings.HasPrefix(ev.Detail, "the owner of ") {
			w.lost++
			w.due(ev)
		}
		delete(w.jobs, ev.Job)
	case scheduler.NodesChanged:
		w.loans, w.there = ev.Loans, ev.Cluster
		w.books()
		w.empty()
	}
	return ev, err
}

// Do implements scheduler.Backend.
func (w *overseer) Do(ctx context.Context, acts []scheduler.Action) error {
	for _, a := range acts {
		switch a := a.(type) {
		case scheduler.Run:
			w.jobs[a.Job] = a.Placement
		case scheduler.Preempt:
			delete(w.jobs, a.Job)
		}
	}
	return w.Backend.Do(ctx, acts)
}

// bounds checks rule 1 once all has happened at some time.
func (w *overseer) bounds() {
	now := w.Now().Sub(sim.Epoch)
	since := (now - w.o.Grace).Truncate(w.o.Interval)
	if now < w.o.Grace || w.loans == nil {
		return
	}
	for _, l := range w.loans {
		most := 0.0
		for at := since; at <= now; at += w.o.Interval {
			most = max(most, float64(l.Nodes)*(1-w.o.Headroom-w.o.Busy(at)))
		}
		if float64(l.Lent) > most+1e-6 {
			w.complain("group %s: %d nodes lent, want at most %g", l.Group, l.Lent, most)
		}
	}
}

// books checks rule 2.
func (w *overseer) books() {
	there := make(map[cluster.Group]int)
	for _, n := range w.there.Nodes() {
		if n.Tenure == cluster.Loaned {
			there[n.Group]++
		}
	}
	for _, l := range w.loans {
		w.most = max(w.most, l.Lent)
		if there[l.Group] > l.Lent || l.Lent+l.Spare > l.Nodes || l.Spare > 0 && l.Reclaim > 0 || (l.Reclaim > 0) == l.By.IsZero() {
			w.complain("group %s: %d nodes there of %d lent, %d spare and %d asked back by %v of %d", l.Group, there[l.Group], l.Lent, l.Spare, l.Reclaim, l.By, l.Nodes)
		}
	}
}

// empty checks rule 3.
func (w *overseer) empty() {
	for _, id := range slices.Sorted(maps.Keys(w.jobs)) {
		for _, share := range w.jobs[id] {
			if _, ok := w.there.Index(share.Node); !ok {
				w.complain("node %s: gone, want job %s on it to be told", share.Node, id)
			}
		}
	}
}

// due checks rule 4; without grace nobody is asked.
func (w *overseer) due(ev scheduler.Exited) {
	if w.o.Grace > 0 && !slices.ContainsFunc(w.loans, func(l cluster.Loan) bool { return l.Reclaim > 0 && !l.By.After(w.Now()) }) {
		w.complain("job %s: lost to the owner of its node, want that only when nodes are due: %s", ev.Job, ev.Detail)
	}
}

// err returns an error of all complaints.
func (w *overseer) err() error {
	if len(w.errs) == 0 {
		return nil
	}
	return fmt.Errorf("%d complaints: %s", len(w.errs), w.errs[0])
}

// onLoan draws which nodes can be lent: never the first, and most of the others.
func onLoan(t *rapid.T, c *cluster.Cluster) *cluster.Cluster {
	nodes := slices.Clone(c.Nodes())
	for i := range nodes {
		if n := &nodes[i]; i > 0 && !oneIn(t, 4, "owned") {
			n.Tenure, n.Group = cluster.Loaned, cluster.RentGroup(n.GPUType, 0)
		}
	}
	lending, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return lending
}

// lender draws how nodes are lent.
func lender(t *rapid.T) sim.Lender {
	minutes := func(what string, of ...int) time.Duration {
		return time.Duration(rapid.SampledFrom(of).Draw(t, what)) * time.Minute
	}
	share := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.4, 0.8, 1}))
	shares := rapid.SliceOfN(share, 1, 60).Draw(t, "busy")
	o := sim.Lender{
		Interval: minutes("interval", 5, 3, 17),
		Headroom: rapid.SampledFrom([]float64{0.02, 0, 0.2}).Draw(t, "headroom"),
		Grace:    minutes("grace", 5, 0, 3, 12, 34),
		Busy:     func(at time.Duration) float64 { return shares[int(at/(3*time.Minute))%len(shares)] },
	}
	if oneIn(t, 3, "forecast") {
		o.Forecast = func() sim.Forecaster { return &seer{of: curve(shares...), sd: 0.05} }
	}
	return o
}

// lends draws a script in which nodes are lent.
func lends(t *rapid.T) (*play, *overseer) {
	s := draw(t)
	s.cluster, s.world.Lender = onLoan(t, s.cluster), lender(t)
	s.arrivals = slices.DeleteFunc(s.arrivals, func(a workload.Arrival) bool { return sim.Fits(s.cluster, &a.Spec) != nil })
	p, err := registry.New(rapid.SampledFrom([]string{"fifo", "srtf", "sia"}).Draw(t, "policy"), nil)
	if err != nil {
		t.Fatal(err)
	}
	placer, err := registry.NewPlacer(rapid.SampledFrom([]string{"submesh", "pack"}).Draw(t, "placer"), registry.PlacerOptions{Penalty: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	b := &borrower{Policy: p, Placer: placer, dice: rand.New(rand.NewPCG(s.world.Seed, 1))}
	b.stubborn = oneIn(t, 2, "stubborn")
	b.obedient = !b.stubborn && rapid.Bool().Draw(t, "obedient")
	w := &overseer{o: s.world.Lender, jobs: make(map[job.ID]cluster.Placement)}
	return &play{script: s, policy: b, placer: b, wrap: func(inner scheduler.Backend) scheduler.Backend {
		w.Backend = inner
		return w
	}}, w
}

// TestLoan_invariants plays random scripts in which a policy borrows and returns nodes at random. Neither an
// Auditor nor an overseer finds a violation. A non-preemptive job loses GPUs only if its node is due.
func TestLoan_invariants(t *testing.T) {
	draws.AtLeast(t, 200) // in 1 script of 10 a job is lost, in 1 of 2 nodes are lent
	lost, lent := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p, w := lends(t)
		if err := p.run(); err != nil {
			t.Fatal(err)
		}
		if err := w.err(); err != nil {
			t.Fatal(err)
		}
		lost, lent = lost+w.lost, lent+w.most
	})
	if lost == 0 || lent == 0 {
		t.Errorf("%d nodes were lent and %d jobs lost to their owners, want some of both", lent, lost)
	}
}

// rising is a script without failures and jobs that have to stay, in a world whose owner
// needs more and more of three of its four nodes.
func rising(t *testing.T, obedient bool) (*play, *overseer) {
	t.Helper()
	s := busy(t)
	nodes := slices.Clone(s.cluster.Nodes())
	for i := range nodes[1:] {
		nodes[i+1].Tenure, nodes[i+1].Group = cluster.Loaned, "l"
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	s.cluster, s.world.Faults = c, sim.Faults{}
	s.world.Lender = sim.Lender{Interval: 5 * time.Minute, Grace: 2 * time.Minute, Busy: func(at time.Duration) float64 {
		return float64(at/(20*time.Minute)%4) / 3
	}}
	for i := range s.arrivals {
		s.arrivals[i].Spec.NonPreemptive = false
	}
	p, err := registry.New("srtf", nil)
	if err != nil {
		t.Fatal(err)
	}
	placer, err := registry.NewPlacer("submesh", registry.PlacerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := &borrower{Policy: p, Placer: placer, obedient: obedient, stubborn: !obedient, dice: rand.New(rand.NewPCG(1, 1))}
	w := &overseer{o: s.world.Lender, jobs: make(map[job.ID]cluster.Placement)}
	return &play{script: s, policy: b, placer: b, wrap: func(inner scheduler.Backend) scheduler.Backend {
		w.Backend = inner
		return w
	}}, w
}

// From a policy that gives back what is asked for nothing is taken by force; from one that
// never does all is.
func TestLoan_is_returned_or_taken(t *testing.T) {
	for _, obedient := range []bool{true, false} {
		p, w := rising(t, obedient)
		if err := p.run(); err != nil {
			t.Fatal(err)
		}
		if err := w.err(); err != nil {
			t.Error(err)
		}
		seized := w.Backend.(bounded).Backend.(*sim.World).Seized()
		if w.most != 3 || (seized == 0) != obedient || (w.lost == 0) != obedient {
			t.Errorf("obedient %t: %d nodes lent at most, %d taken by force with %d jobs; want 3, and some only without obedience", obedient, w.most, seized, w.lost)
		}
	}
}

// still is a world in which nothing happens after a time.
type still struct {
	scheduler.Backend
	after  time.Duration
	events []scheduler.Event
}

func (w *still) Now() time.Time { return sim.Epoch.Add(w.after) }

func (w *still) Next(context.Context, time.Time) (scheduler.Event, error) {
	if len(w.events) == 0 {
		return nil, nil
	}
	ev := w.events[0]
	w.events = w.events[1:]
	return ev, nil
}

// Each seeded bug is caught by the rule that it breaks.
func TestOverseer_catches(t *testing.T) {
	node := func(id cluster.NodeID) cluster.Node {
		return cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Tenure: cluster.Loaned, Group: "l"}
	}
	both, err := cluster.New([]cluster.Node{node("l-0"), node("l-1")})
	if err != nil {
		t.Fatal(err)
	}
	one := both.Without(func(id cluster.NodeID) bool { return id == "l-1" })
	news := func(c *cluster.Cluster, l cluster.Loan) scheduler.Event {
		l.Group, l.Nodes = "l", 4
		return scheduler.NodesChanged{Cluster: c, Loans: []cluster.Loan{l}}
	}
	taken := scheduler.Exited{Job: "j", Outcome: scheduler.Lost, Detail: "the owner of l-1 took it back by force"}
	at := func(d time.Duration) time.Time { return sim.Epoch.Add(d) }
	for name, c := range map[string]struct {
		after  time.Duration
		events []scheduler.Event
		want   string // empty: no complaint
	}{
		"a node that is not due":  {9 * time.Minute, []scheduler.Event{news(both, cluster.Loan{Lent: 2, Reclaim: 1, By: at(10 * time.Minute)})}, ""},
		"a node that stays":       {10 * time.Minute, []scheduler.Event{news(both, cluster.Loan{Lent: 2, Reclaim: 1, By: at(10 * time.Minute)})}, "group l: 2 nodes lent, want at most 1"},
		"a node that is not lent": {0, []scheduler.Event{news(both, cluster.Loan{Lent: 1})}, "group l: 2 nodes there of 1 lent"},
		"more than there are":     {0, []scheduler.Event{news(both, cluster.Loan{Lent: 2, Spare: 3})}, "2 lent, 3 spare"},
		"spare and asked back":    {0, []scheduler.Event{news(both, cluster.Loan{Lent: 2, Spare: 1, Reclaim: 1, By: at(time.Hour)})}, "1 spare and 1 asked back"},
		"asked back at no time":   {0, []scheduler.Event{news(both, cluster.Loan{Lent: 2, Reclaim: 1})}, "1 asked back by 0001"},
		"a job that is not told":  {0, []scheduler.Event{news(both, cluster.Loan{Lent: 2}), news(one, cluster.Loan{Lent: 1})}, "node l-1: gone, want job j on it to be told"},
		"a job that is told":      {10 * time.Minute, []scheduler.Event{news(both, cluster.Loan{Lent: 2, Reclaim: 1, By: at(10 * time.Minute)}), taken, news(one, cluster.Loan{Lent: 1})}, ""},
		"a job lost too early":    {9 * time.Minute, []scheduler.Event{news(both, cluster.Loan{Lent: 2, Reclaim: 1, By: at(10 * time.Minute)}), taken}, "job j: lost to the owner of its node"},
	} {
		w := &overseer{Backend: &still{after: c.after, events: c.events}, jobs: map[job.ID]cluster.Placement{"j": {{Node: "l-1"}}}}
		w.o = sim.Lender{Interval: 5 * time.Minute, Grace: 5 * time.Minute, Headroom: 0.25, Busy: curve(0, 0.5)}
		for range len(c.events) + 1 {
			if _, err := w.Next(t.Context(), sim.Epoch); err != nil {
				t.Fatal(err)
			}
		}
		got := w.err()
		if (got == nil) != (c.want == "") || got != nil && !strings.Contains(got.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, got, c.want)
		}
	}
}

// A world that lends nodes keeps the contract of worlds.
func TestLender_keeps_the_contract(t *testing.T) {
	p, _ := rising(t, false)
	o := p.world
	o.Faults = sim.Faults{NodeMTBF: 5 * time.Hour, Repair: 10 * time.Minute}
	fresh := func(t testing.TB) scheduler.Backend {
		w, err := sim.New(p.cluster, p.catalog, p.arrivals, o)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	drive := func(ctx context.Context, b scheduler.Backend) error {
		return schedulertest.DriveWith(p.cluster, &borrower{Policy: &thinker{Policy: schedulertest.FirstFit{}}, dice: rand.New(rand.NewPCG(1, 1))})(ctx, b)
	}
	schedulertest.RunRepeatable(t, fresh, drive)
}
