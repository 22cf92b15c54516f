package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A gambler is another policy that rents, of every group, any number of nodes.
type gambler struct {
	policy.Policy
	dice *rand.Rand
}

func (p *gambler) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.Policy.Plan(ctx, s)
	if err != nil {
		return nil, err
	}
	plan.Capacity = make(map[cluster.Group]int)
	for i := range s.Rentals {
		if p.dice.IntN(3) == 0 {
			plan.Capacity[s.Rentals[i].Group] = p.dice.IntN(s.Rentals[i].Most + 1)
		}
	}
	return plan, nil
}

// A ledger keeps the books of rented nodes a second time, GPU-second by GPU-second, and
// checks that no more are paid than are offered, and all that are there.
type ledger struct {
	scheduler.Observer
	offers           []cluster.Offer
	last             time.Time
	boundary         time.Time // the end of the last round
	rentals          []cluster.Rental
	paid, late, most float64
	err              error
}

func (l *ledger) complain(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

// settle books the time since the last change.
func (l *ledger) settle(now time.Time) {
	for _, r := range l.rentals {
		gpus := float64(r.Node.Capacity.GPUs) * now.Sub(l.last).Seconds()
		l.paid += gpus * float64(r.Ready+r.Starting)
		l.late += gpus * float64(r.Leaving)
	}
	l.last = now
}

func (l *ledger) Event(now time.Time, ev scheduler.Event) {
	l.Observer.Event(now, ev)
	l.settle(now)
	n, ok := ev.(scheduler.NodesChanged)
	if !ok {
		return
	}
	l.rentals = n.Rentals
	if len(n.Rentals) != len(l.offers) {
		l.complain("%d groups are told of, want %d", len(n.Rentals), len(l.offers))
	}
	there := make(map[cluster.Group]int)
	for _, node := range n.Cluster.Nodes() {
		if node.Tenure == cluster.Rented {
			there[node.Group]++
		}
	}
	gpus := 0
	for _, r := range n.Rentals {
		if r.Ready+r.Starting+r.Leaving > r.Most || there[r.Group] > r.Ready {
			l.complain("group %s: %d nodes there of %+v", r.Group, there[r.Group], r)
		}
		gpus += (r.Ready + r.Starting) * r.Node.Capacity.GPUs
	}
	l.most = max(l.most, float64(gpus))
}

func (l *ledger) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	l.settle(s.Now)
	l.boundary = s.Now.Add(s.Length)
	l.Observer.Round(s, p, acts)
}

// agrees compares the ledger of a run that begins with its first job with what was
// measured: up to the last thing seen, or, where a job held GPUs when all were over, to
// the end of its round.
func (l *ledger) agrees(r *metrics.Result) error {
	rent, seen := r.Summary.Rent, l.paid
	if rent == nil && l.boundary.IsZero() {
		return nil // all was over before the first round
	}
	if rent == nil {
		return errors.New("no rent was measured")
	}
	if l.boundary.After(l.last) {
		l.settle(l.boundary)
	}
	if rent.Hours*3600 > l.paid*(1+1e-9) || rent.Leaving*3600 > l.late*(1+1e-9) || float64(rent.MostGPUs) != l.most {
		return fmt.Errorf("measured %+v, want no more than %v and %v GPU-s and %v GPUs", rent, l.paid, l.late, l.most)
	}
	if rent.Starting+rent.Idle > rent.Hours*(1+1e-9) {
		return fmt.Errorf("measured %+v, want its parts to be no more than the whole", rent)
	}
	near := func(want float64) bool { return math.Abs(rent.Hours*3600-want) <= 1e-6*max(1, want) }
	if r.Summary.Active == 0 && !near(seen) && !near(l.paid) {
		return fmt.Errorf("measured %+v, want %v or %v GPU-s", rent, seen, l.paid)
	}
	return nil
}

// forRent draws which nodes are rented, some of them as spot nodes.
func forRent(t *rapid.T, c *cluster.Cluster) *cluster.Cluster {
	nodes := slices.Clone(c.Nodes())
	for i := range nodes {
		n := &nodes[i]
		if i > 0 && rapid.Bool().Draw(t, "owned") {
			continue
		}
		n.Tenure, n.Group = cluster.Rented, cluster.RentGroup(n.GPUType, n.Capacity.GPUs)
		if rapid.Bool().Draw(t, "spot") {
			n.Group, n.Interruptions = n.Group+"-spot", 2
		}
	}
	rented, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return rented
}

// rents draws a script in which nodes are rented at random.
func rents(t *rapid.T) (*play, *ledger) {
	s := draw(t)
	s.cluster = forRent(t, s.cluster)
	if len(s.arrivals) > 0 {
		s.arrivals[0].At = 0
	}
	ofSeconds := func(what string) time.Duration {
		return time.Duration(rapid.SampledFrom([]int{0, 90, 120, 400}).Draw(t, what)) * time.Second
	}
	s.world.Provider = sim.Provider{
		Start: ofSeconds("start"), Release: ofSeconds("release"), Notice: ofSeconds("notice"),
		Refuse: rapid.SampledFrom([]float64{0, 0.2, 0.9}).Draw(t, "refuse"),
	}
	p, err := registry.New(rapid.SampledFrom([]string{"fifo", "srtf", "sia"}).Draw(t, "policy"), nil)
	if err != nil {
		t.Fatal(err)
	}
	placer, err := registry.NewPlacer(rapid.SampledFrom([]string{"submesh", "pack"}).Draw(t, "placer"), registry.PlacerOptions{Penalty: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{offers: s.cluster.Offers()}
	dice := rand.New(rand.NewPCG(s.world.Seed, 1))
	return &play{script: s, policy: &gambler{p, dice}, placer: placer, record: func(o scheduler.Observer) scheduler.Observer {
		l.Observer = o
		return l
	}}, l
}

// TestRent_invariants plays random scripts in which a policy rents nodes at random:
// nothing that an Auditor looks for ever happens, and the books are right.
func TestRent_invariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, l := rents(t)
		if err := p.run(); err != nil {
			t.Fatal(err)
		}
		if l.err != nil {
			t.Fatal(l.err)
		}
		if len(p.arrivals) == 0 {
			return
		}
		if err := l.agrees(l.Observer.(*metrics.Recorder).Result()); err != nil {
			t.Fatal(err)
		}
	})
}

// The ledger finds books that are wrong.
func TestLedger_catches(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Tenure: cluster.Rented, Group: "g"}})
	if err != nil {
		t.Fatal(err)
	}
	rental := cluster.Rental{Offer: c.Offers()[0], Ready: 1}
	for name, c := range map[string]struct {
		change func(*scheduler.NodesChanged)
		result metrics.Rent
		want   string
	}{
		"nothing":         {func(*scheduler.NodesChanged) {}, metrics.Rent{Hours: 4, MostGPUs: 4}, "<nil>"},
		"a group less":    {func(n *scheduler.NodesChanged) { n.Rentals = nil }, metrics.Rent{}, "0 groups are told of"},
		"more than most":  {func(n *scheduler.NodesChanged) { n.Rentals[0].Leaving = 1 }, metrics.Rent{}, "group g: 1 nodes there"},
		"unpaid nodes":    {func(n *scheduler.NodesChanged) { n.Rentals[0].Ready = 0 }, metrics.Rent{}, "group g: 1 nodes there"},
		"too many hours":  {func(*scheduler.NodesChanged) {}, metrics.Rent{Hours: 5, MostGPUs: 4}, "want no more than"},
		"too few hours":   {func(*scheduler.NodesChanged) {}, metrics.Rent{Hours: 3, MostGPUs: 4}, "want 14400 or 14400 GPU-s"},
		"too large parts": {func(*scheduler.NodesChanged) {}, metrics.Rent{Hours: 4, Idle: 3, Starting: 2, MostGPUs: 4}, "no more than the whole"},
	} {
		rec, err := metrics.New(metrics.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		l := &ledger{Observer: rec, offers: []cluster.Offer{rental.Offer}}
		ev := scheduler.NodesChanged{Cluster: nodesOf(t, rental), Rentals: []cluster.Rental{rental}}
		c.change(&ev)
		l.Event(sim.Epoch, ev)
		l.settle(sim.Epoch.Add(time.Hour))
		got := l.err
		if got == nil {
			got = l.agrees(&metrics.Result{Jobs: []metrics.JobResult{{}}, Summary: metrics.Summary{Rent: &c.result, Makespan: 3600}})
		}
		if !strings.Contains(fmt.Sprint(got), c.want) {
			t.Errorf("%s: got %v, want %q", name, got, c.want)
		}
	}
}

// nodesOf returns the cluster of one node of a rental.
func nodesOf(t *testing.T, r cluster.Rental) *cluster.Cluster {
	t.Helper()
	n := r.Node
	n.ID = "n"
	c, err := cluster.New([]cluster.Node{n})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
