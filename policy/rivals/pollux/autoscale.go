package pollux

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// AutoscaleOptions configure an Autoscaler.
type AutoscaleOptions struct {
	Options
	Target float64 // target efficiency of the cluster, c in BOA §6.1, in (0, 1); default 0.6 (public code)
	Least  int     // fewest nodes, including nodes that are not rented; default 2 (public code)
	Cycles int     // number of rounds over which efficiency is averaged; default 2 (public code)
}

// DefaultAutoscaleOptions returns the settings of the public code.
func DefaultAutoscaleOptions() AutoscaleOptions {
	return AutoscaleOptions{Options: DefaultOptions(), Target: 0.6, Least: 2, Cycles: 2}
}

func (o *AutoscaleOptions) validate() error {
	errs := []error{o.Options.validate()}
	if !(o.Target > 0 && o.Target < 1) {
		errs = append(errs, fmt.Errorf("target %v, want above 0 and below 1", o.Target))
	}
	if o.Least < 0 {
		errs = append(errs, fmt.Errorf("least %d, want at least 0", o.Least))
	}
	if o.Cycles < 1 || o.Cycles > 1000 {
		errs = append(errs, fmt.Errorf("cycles %d, want 1 to 1000", o.Cycles))
	}
	return errors.Join(errs...)
}

// band returns the distance of efficiency that is allowed. Source: BOA §6.1, "Pollux with Autoscaling".
func (o *AutoscaleOptions) band() float64 { return min(0.3*(1-o.Target), 0.3*o.Target) }

// An Autoscaler is Pollux that also chooses how many nodes to rent: it keeps the efficiency of the cluster near a
// target. It is not safe for concurrent use.
type Autoscaler struct {
	o         AutoscaleOptions
	pollux    *Policy
	started   bool
	wanted    int
	size      int
	recent    []float64
	evaluated int
}

// NewAutoscaler returns an Autoscaler, or all errors of o.
func NewAutoscaler(o AutoscaleOptions) (*Autoscaler, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("pollux: %w", err)
	}
	p, err := New(o.Options)
	return &Autoscaler{o: o, pollux: p}, err
}

// Traits implements policy.Policy.
func (*Autoscaler) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true, Rents: true}
}

// Plan implements policy.Policy. When it changes the number of nodes, it runs the genetic search of Policy.Plan about
// log2(N) times, where N is how many numbers are possible.
func (a *Autoscaler) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if len(s.Rentals) == 0 {
		return a.pollux.Plan(ctx, s)
	}
	f, err := newRentedNodes(s, a.o.Least)
	if err != nil {
		return nil, fmt.Errorf("pollux: round %d: %w", s.Round, err)
	}
	shown := f.view(a.kept(f))
	plan, err := a.pollux.Plan(ctx, shown)
	if err != nil {
		return nil, err
	}
	a.note(shown, plan)
	a.resize(ctx, f, shown)
	f.encourage(plan)
	plan.Stats.Iterations += a.evaluated
	plan.Capacity = map[cluster.Group]int{f.rental.Group: a.wanted}
	return plan, nil
}

func (a *Autoscaler) kept(f *rentedNodes) int {
	if !a.started {
		a.started, a.wanted = true, f.ready+f.rental.Starting
	}
	if f.reserving {
		return f.ready
	}
	return min(f.ready, max(a.wanted, f.least))
}

func (a *Autoscaler) note(s *policy.Snapshot, plan *policy.Plan) {
	if gpus := s.Cluster.GPUs(); gpus != a.size {
		a.size, a.recent = gpus, nil
	}
	a.recent = append(a.recent, a.pollux.efficiency(s, plan))
	a.recent = a.recent[max(0, len(a.recent)-a.o.Cycles):]
}

// resize changes the wanted nodes if there are no jobs or GPUs, or efficiency leaves its band; not while nodes are
// still to come.
func (a *Autoscaler) resize(ctx context.Context, f *rentedNodes, shown *policy.Snapshot) {
	a.evaluated = 0
	low, high, now := f.least, f.rental.Most, f.shown(shown)
	mean, known := a.mean()
	switch {
	case len(f.s.Jobs) == 0:
		a.wanted = low
	case a.growing(f):
	case a.size == 0 && a.wanted == 0:
		a.wanted = a.closest(ctx, f, low, high)
	case known && mean > a.o.Target+a.o.band():
		a.wanted = a.closest(ctx, f, max(low, now), high)
	case known && mean < a.o.Target-a.o.band():
		a.wanted = a.closest(ctx, f, low, min(now, high))
	}
	a.wanted = min(max(a.wanted, low), high)
}

func (a *Autoscaler) growing(f *rentedNodes) bool {
	return f.ready < a.wanted && (f.rental.Starting > 0 || !f.rental.Refused)
}

func (a *Autoscaler) mean() (float64, bool) {
	sum := 0.0
	for _, v := range a.recent {
		sum += v
	}
	return sum / float64(len(a.recent)), len(a.recent) == a.o.Cycles && a.size > 0
}

// closest returns the number of nodes, low to high, with efficiency closest to the target. Source: BOA §6.1,
// "Pollux with Autoscaling".
func (a *Autoscaler) closest(ctx context.Context, f *rentedNodes, low, high int) int {
	a.recent = nil
	return bisect(low, high, a.o.Target, func(n int) float64 {
		s := f.view(n)
		plan := a.pollux.plan(ctx, s, a.pollux.last.probe(s.Cluster))
		a.evaluated += plan.Stats.Iterations
		return a.pollux.efficiency(s, plan)
	})
}

// bisect returns the number at which at, which never increases, is closest to target; the smaller in a tie, low if
// high < low. It takes at most 3 + log2(high - low) calls.
func bisect(low, high int, target float64, at func(int) float64) int {
	if low >= high {
		return low
	}
	above, below := at(low), at(high)
	if above <= target {
		return low
	}
	if below > target {
		return high
	}
	for high-low > 1 {
		middle := (low + high) / 2
		if v := at(middle); v > target {
			low, above = middle, v
		} else {
			high, below = middle, v
		}
	}
	if above-target <= target-below {
		return low
	}
	return high
}

// efficiency returns the sum of speedups over one GPU, by the cluster's GPUs. Source: BOA §6.1, "Pollux".
func (p *Policy) efficiency(s *policy.Snapshot, plan *policy.Plan) float64 {
	sum := 0.0
	for i, j := range s.Jobs {
		if a := &plan.Jobs[i].Allocation; !a.IsZero() {
			sum += p.believe(s, j).overOne(j, a.Configuration)
		}
	}
	return sum / math.Max(1, float64(s.Cluster.GPUs()))
}

func (b *belief) overOne(j *policy.Job, c cluster.Configuration) float64 {
	replica := j.ReplicaGPUs(b.reference)
	one := b.at(j, 1, replica)
	if one <= 0 {
		return 0
	}
	return float64(replica) * b.at(j, c.Nodes, c.GPUs) / one
}
