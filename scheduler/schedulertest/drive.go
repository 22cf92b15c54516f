package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Drive returns a function that tests a backend: it runs a scheduler with policy FirstFit and rounds of a minute
// on the nodes of c. Every plan has background work, whose result must arrive with the next snapshot; some work
// panics.
func Drive(c *cluster.Cluster, obs ...scheduler.Observer) func(context.Context, scheduler.Backend) error {
	return DriveEvery(time.Minute, c, obs...)
}

// DriveEvery is Drive with the given round length, for backends in real time.
func DriveEvery(round time.Duration, c *cluster.Cluster, obs ...scheduler.Observer) func(context.Context, scheduler.Backend) error {
	return func(ctx context.Context, b scheduler.Backend) error {
		p := &thinker{of: FirstFit{}}
		return errors.Join(driven(round, c, p, obs)(ctx, b), p.err)
	}
}

// DriveWith is Drive with policy p. The policy must choose placements itself.
func DriveWith(c *cluster.Cluster, p policy.Policy, obs ...scheduler.Observer) func(context.Context, scheduler.Backend) error {
	return driven(time.Minute, c, p, obs)
}

func driven(round time.Duration, c *cluster.Cluster, p policy.Policy, obs []scheduler.Observer) func(context.Context, scheduler.Backend) error {
	return func(ctx context.Context, b scheduler.Backend) error {
		o := scheduler.DefaultOptions()
		o.Round = round
		s, err := scheduler.New(p, asPlanned{}, c, o)
		if err != nil {
			return err
		}
		return s.Run(ctx, b, obs...)
	}
}

type asPlanned struct{}

func (asPlanned) Place(_ context.Context, _ *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	return p, nil
}

// DriveRenting is Drive with a policy that rents, borrows and returns nodes of c (Renter).
func DriveRenting(c *cluster.Cluster, obs ...scheduler.Observer) func(context.Context, scheduler.Backend) error {
	return func(ctx context.Context, b scheduler.Backend) error {
		p := &thinker{of: Renter{}}
		return errors.Join(DriveWith(c, p, obs...)(ctx, b), p.err)
	}
}

// A thinker adds background work to the plans of a policy. The work returns the plan's number; in every third
// plan it panics.
type thinker struct {
	of    policy.Policy
	plans int
	err   error
}

func (*thinker) Traits() policy.Traits { return policy.Traits{} }

func (t *thinker) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	t.shown(s)
	p, err := t.of.Plan(ctx, s)
	n := t.plans
	t.plans++
	p.Background = func(context.Context) any {
		if fails(n) {
			panic(n)
		}
		return n
	}
	return p, err
}

func fails(n int) bool { return n%3 == 1 }

func (t *thinker) shown(s *policy.Snapshot) {
	last, want := t.plans-1, "nothing"
	good := s.Computed == nil
	switch {
	case t.plans == 0:
	case fails(last):
		_, good = s.Computed.(error)
		want = "an error"
	default:
		good, want = s.Computed == last, strconv.Itoa(last)
	}
	if !good && t.err == nil {
		t.err = fmt.Errorf("round %d: the background work of the plan before returned %v, want %s", s.Round, s.Computed, want)
	}
}

// FirstFit is a minimal policy for tests: each waiting job, in order, gets its requested GPUs on the first node with
// enough free GPUs.
type FirstFit struct {
	// Last reverses the order of the jobs.
	Last bool
}

// Traits implements policy.Policy.
func (FirstFit) Traits() policy.Traits { return policy.Traits{} }

// Plan implements policy.Policy.
func (f FirstFit) Plan(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
	free := make([]int, len(s.Cluster.Nodes()))
	for i, n := range s.Cluster.Nodes() {
		free[i] = n.Capacity.GPUs
	}
	for i, j := range s.Jobs {
		if !j.Holding() {
			continue
		}
		p.Jobs[i] = policy.Decision{Allocation: j.Allocation, Placement: j.Placement, Why: policy.Reason{Kind: policy.AsPlanned}}
		for _, share := range j.Placement {
			if at, ok := s.Cluster.Index(share.Node); ok {
				free[at] -= share.GPUs
			}
		}
	}
	for i := range s.Jobs {
		if f.Last {
			i = len(s.Jobs) - 1 - i
		}
		if !s.Jobs[i].Holding() {
			p.Jobs[i] = fit(s, s.Jobs[i], free)
		}
	}
	return p, nil
}

func fit(s *policy.Snapshot, j *policy.Job, free []int) policy.Decision {
	if j.Phase == job.Profiling {
		return policy.Decision{Why: policy.Reason{Kind: policy.WaitProfile}}
	}
	n := max(1, j.GPUs)
	for at, node := range s.Cluster.Nodes() {
		if free[at] < n || !j.Eligible(node.GPUType) {
			continue
		}
		free[at] -= n
		return policy.Decision{
			Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: n, GPUType: node.GPUType}},
			Placement:  cluster.Placement{{Node: node.ID, Resources: cluster.Resources{GPUs: n}}},
			Why:        policy.Reason{Kind: policy.Started},
		}
	}
	return policy.Decision{Why: policy.Reason{Kind: policy.WaitOrder, Limit: float64(n)}}
}
