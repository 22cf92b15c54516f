package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// RunRenting checks backends that rent the nodes of c with tenure Rented, in addition to Run. drive must rent
// nodes and give some back, as DriveRenting does. It checks:
//
//   - Before the next round, Provision leads to the wanted number of nodes, ordered or
//     up, or to Refused; and some ordered nodes arrive;
//   - returned nodes are gone before the next round;
//   - NodesChanged has every group, no more nodes than are offered, and only
//     nodes that are paid for;
//   - no job is on a node that is gone;
//   - a request for more nodes than are offered or for an unknown group, or to return a node
//     that is not rented, is an error that names it.
func RunRenting(t *testing.T, fresh func(testing.TB) scheduler.Backend, c *cluster.Cluster, drive func(context.Context, scheduler.Backend) error) {
	t.Helper()
	Run(t, fresh, drive)
	t.Run("nodes are rented and given back", func(t *testing.T) {
		if err := Renting(t.Context(), fresh(t), c, drive); err != nil {
			t.Error(err)
		}
	})
	t.Run("what cannot be rented is named", func(t *testing.T) {
		if err := Unrentable(t.Context(), fresh(t), c); err != nil {
			t.Error(err)
		}
	})
}

// Unrentable requests nodes that backend b cannot provide.
func Unrentable(ctx context.Context, b scheduler.Backend, c *cluster.Cluster) error {
	offer := c.Offers()[0]
	var errs []error
	for name, a := range map[string]scheduler.Action{
		"nobody-lets-this":  scheduler.Provision{Group: "nobody-lets-this", Nodes: 1},
		"nobody-has-this":   scheduler.Return{Nodes: []cluster.NodeID{"nobody-has-this"}},
		string(offer.Group): scheduler.Provision{Group: offer.Group, Nodes: offer.Most + 1},
	} {
		if got := fmt.Sprint(b.Do(ctx, []scheduler.Action{a})); !strings.Contains(got, name) {
			errs = append(errs, fmt.Errorf("%T %+v: got error %s, want one that names %s", a, a, got, name))
		}
	}
	return errors.Join(errs...)
}

// Renting runs backend b to its end, checks what it reports about rented nodes, and returns all errors, joined.
func Renting(ctx context.Context, b scheduler.Backend, c *cluster.Cluster, drive func(context.Context, scheduler.Backend) error) error {
	w := &tenant{Backend: b, offers: c.Offers(), there: c.Held(), jobs: make(map[job.ID]cluster.Placement)}
	if err := drive(ctx, w); err != nil {
		return fmt.Errorf("drive: %w", errors.Join(append(w.errs, err)...))
	}
	if !w.came || !w.went {
		w.complain("nodes came: %t, and were given back: %t; want both", w.came, w.went)
	}
	return errors.Join(w.errs...)
}

type tenant struct {
	scheduler.Backend
	offers  []cluster.Offer
	there   *cluster.Cluster
	rentals []cluster.Rental
	jobs    map[job.ID]cluster.Placement
	asked   []scheduler.Provision // since the last round
	given   []cluster.NodeID      // since the last round
	came    bool
	went    bool
	errs    []error
}

func (w *tenant) complain(format string, args ...any) {
	if len(w.errs) < maxComplaints {
		w.errs = append(w.errs, fmt.Errorf(format, args...))
	}
}

func (w *tenant) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	ev, err := w.Backend.Next(ctx, deadline)
	switch ev := ev.(type) {
	case nil:
		if err == nil {
			w.round()
		}
	case scheduler.Exited:
		delete(w.jobs, ev.Job)
	case scheduler.NodesChanged:
		w.there, w.rentals = ev.Cluster, ev.Rentals
		w.changed()
	}
	return ev, err
}

func (w *tenant) Do(ctx context.Context, actions []scheduler.Action) error {
	for _, a := range actions {
		switch a := a.(type) {
		case scheduler.Run:
			w.jobs[a.Job] = a.Placement
		case scheduler.Preempt:
			delete(w.jobs, a.Job)
		case scheduler.Provision:
			w.asked = append(w.asked, a)
		case scheduler.Return:
			w.given, w.went = append(w.given, a.Nodes...), true
		}
	}
	return w.Backend.Do(ctx, actions)
}

func (w *tenant) changed() {
	if len(w.rentals) != len(w.offers) {
		w.complain("nodes changed: %d groups, want all %d", len(w.rentals), len(w.offers))
		return
	}
	for i, offer := range w.offers {
		r, there := &w.rentals[i], w.rented(offer.Group)
		w.came = w.came || there > 0
		if n := r.Ready + r.Starting + r.Leaving; r.Group != offer.Group || n > offer.Most {
			w.complain("group %s: %d nodes are paid of group %s, want at most %d", r.Group, n, offer.Group, offer.Most)
		}
		if there > r.Ready {
			w.complain("group %s: %d nodes are there and %d of them paid, want all", r.Group, there, r.Ready)
		}
	}
	w.asked = slices.DeleteFunc(w.asked, w.obeyed)
}

// obeyed reports whether the requested nodes, less those given back since, are up or ordered, or the provider
// had too few.
func (w *tenant) obeyed(a scheduler.Provision) bool {
	return slices.ContainsFunc(w.rentals, func(r cluster.Rental) bool {
		n := r.Ready + r.Starting
		return r.Group == a.Group && (r.Refused || n <= a.Nodes && n >= a.Nodes-len(w.given))
	})
}

func (w *tenant) rented(g cluster.Group) int {
	n := 0
	for _, node := range w.there.Nodes() {
		if node.Tenure == cluster.Rented && node.Group == g {
			n++
		}
	}
	return n
}

func (w *tenant) round() {
	for _, a := range w.asked {
		w.complain("group %s: %d nodes wanted, and neither on their way nor refused by the next round", a.Group, a.Nodes)
	}
	for _, id := range w.given {
		if _, still := w.there.Index(id); still {
			w.complain("node %s: given back, and there at the next round", id)
		}
	}
	w.asked, w.given = nil, nil
	for _, id := range slices.Sorted(maps.Keys(w.jobs)) {
		for _, share := range w.jobs[id] {
			if _, ok := w.there.Index(share.Node); !ok {
				w.complain("job %s: on node %s, which is gone", id, share.Node)
			}
		}
	}
}

// Renter is FirstFit that also borrows every node on loan, and rents as many nodes as all its jobs would fill.
type Renter struct{ FirstFit }

// Traits implements policy.Policy.
func (Renter) Traits() policy.Traits { return policy.Traits{} }

// Plan implements policy.Policy.
func (p Renter) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.FirstFit.Plan(ctx, s)
	plan.Capacity = make(map[cluster.Group]int)
	gpus := 0
	for _, j := range s.Jobs {
		gpus += max(1, j.GPUs)
	}
	for i := range s.Rentals {
		r := &s.Rentals[i]
		per := r.Node.Capacity.GPUs
		plan.Capacity[r.Group] = min(r.Most, (gpus+per-1)/per)
	}
	for i := range s.Loans {
		l := &s.Loans[i]
		plan.Capacity[l.Group] = l.Lent + l.Spare
		plan.Return = append(plan.Return, empty(s, plan, l)...)
	}
	slices.Sort(plan.Return)
	return plan, err
}

func empty(s *policy.Snapshot, p *policy.Plan, l *cluster.Loan) []cluster.NodeID {
	used := make(map[cluster.NodeID]bool)
	for i := range p.Jobs {
		for _, share := range p.Jobs[i].Placement {
			used[share.Node] = true
		}
	}
	var found []cluster.NodeID
	for _, n := range s.Cluster.Nodes() {
		if len(found) < l.Reclaim && n.Tenure == cluster.Loaned && n.Group == l.Group && !used[n.ID] {
			found = append(found, n.ID)
		}
	}
	return found
}
