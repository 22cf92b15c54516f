package whatif

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf/remaining"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
)

// mostAsked bounds the plans that Unblock asks for.
const mostAsked = 64

// Unblock returns the cheapest change by which a waiting job of the snapshot would get GPUs, or a
// running job more GPUs. It makes one change at a time, from cheap to expensive, asks a fresh
// policy for a plan, and returns the first change that helps:
//
//  1. no change;
//  2. the job asks for half of its GPUs, half of that, and so on down to 1;
//  3. it may use one more GPU type;
//  4. it has checkpoints, or may be preempted;
//  5. the cluster has 1, 2, 4 and so on more GPUs of a type, up to twice as many;
//  6. one of the jobs that hold GPUs has ended, those that end soonest first.
//
// If none of them helps, it returns a change of kind NothingHelps.
//
// A fresh policy does not know earlier rounds: a policy that divides time among jobs may decide
// differently in the run. Unblock returns an error if the snapshot has no such job, if Fresh
// fails, or if ctx is done. Complexity: at most 64 plans.
func Unblock(ctx context.Context, s *policy.Snapshot, id job.ID, o Options) (*Change, error) {
	at := s.Index(id)
	if at < 0 {
		return nil, fmt.Errorf("whatif: job %s: not in the snapshot", id)
	}
	asked := 0
	for c, then := range changes(s, at) {
		if asked++; asked > mostAsked {
			break
		}
		got, err := o.decide(ctx, then, id)
		if err != nil {
			return nil, fmt.Errorf("whatif: job %s: %w", id, err)
		}
		if got.AllGPUs() > s.Jobs[at].Allocation.AllGPUs() {
			c.Gets, c.Asked = got, asked
			return &c, nil
		}
	}
	return &Change{Kind: NothingHelps, Asked: min(asked, mostAsked)}, nil
}

// decide returns what a fresh policy gives to a job of a snapshot: nothing if its plan breaks a
// rule.
func (o *Options) decide(ctx context.Context, s *policy.Snapshot, id job.ID) (cluster.Allocation, error) {
	p, placer, err := o.Fresh()
	if err != nil {
		return cluster.Allocation{}, err
	}
	plan := planned(ctx, p, placer, s)
	if plan == nil {
		return cluster.Allocation{}, ctx.Err()
	}
	at := s.Index(id)
	return plan.Jobs[at].Allocation, nil
}

// planned returns a policy's plan for a snapshot, placed; nil if there is none or the plan breaks
// a rule. Background work of the policy is done at once, and the policy is asked again.
func planned(ctx context.Context, p policy.Policy, placer placement.Placer, s *policy.Snapshot) (plan *policy.Plan) {
	defer func() {
		if recover() != nil { // as in the scheduler, a policy that panics has no plan
			plan = nil
		}
	}()
	plan, err := p.Plan(ctx, s)
	if err == nil && plan.Background != nil {
		then := *s
		then.Computed = plan.Background.Do(ctx)
		plan, err = p.Plan(ctx, &then)
	}
	if err != nil || ctx.Err() != nil {
		return nil
	}
	policy.FillProportional(s, plan)
	if policy.Check(s, plan) != nil {
		return nil
	}
	if plan, err = placer.Place(ctx, s, plan); err != nil || policy.CheckPlacement(s, plan) != nil {
		return nil
	}
	return plan
}

// A Change is one thing to change, and what the job would then get.
type Change struct {
	Kind  Kind
	GPUs  int             // asked for, of FewerGPUs; more, of MoreGPUs
	Type  cluster.GPUType // of AnotherType and MoreGPUs
	Job   job.ID          // that ends, of OneEnds
	In    time.Duration   // until that job ends by its model, of OneEnds; negative: not known
	Gets  cluster.Allocation
	Asked int // plans that were asked for
}

// A Kind is one entry of the closed list of changes.
type Kind uint8

// The kinds of change, from cheap to expensive.
const (
	NoChange     Kind = iota // the job gets GPUs in the next round without any change
	FewerGPUs                // it asks for fewer GPUs
	AnotherType              // it allows another GPU type
	Checkpoints              // it has checkpoints
	Preemptible              // it may be preempted
	MoreGPUs                 // the cluster has more GPUs of a type
	OneEnds                  // a job that holds GPUs ends
	NothingHelps             // none of these does
	kinds
)

// String returns the change as a clause: "it would get (1, 4, a100) if it asked for 4 GPUs".
func (c *Change) String() string {
	gets := fmt.Sprintf("it would get %v", c.Gets)
	switch c.Kind {
	case NothingHelps:
		return fmt.Sprintf("none of %d changes to it, to the cluster and to other jobs would give it more GPUs now", c.Asked)
	case NoChange:
		return fmt.Sprintf("it gets %v in the next round as things stand", c.Gets)
	case FewerGPUs:
		return fmt.Sprintf("%s if it asked for %s", gets, gpus(c.GPUs, ""))
	case AnotherType:
		return fmt.Sprintf("%s if it allowed GPUs of type %s", gets, c.Type)
	case Checkpoints:
		return gets + " if it had checkpoints"
	case Preemptible:
		return gets + " if it could be preempted"
	case MoreGPUs:
		return fmt.Sprintf("%s if the cluster had %s", gets, gpus(c.GPUs, "more "+string(c.Type)+" "))
	case OneEnds:
		return fmt.Sprintf("%s if job %s ended%s", gets, c.Job, in(c.In))
	case kinds:
	}
	return "unknown"
}

// gpus returns "1 GPU", "4 more a100 GPUs".
func gpus(n int, what string) string {
	if n == 1 {
		return "1 " + what + "GPU"
	}
	return fmt.Sprintf("%d %sGPUs", n, what)
}

func in(d time.Duration) string {
	if d < 0 {
		return ""
	}
	return fmt.Sprintf(", which it should in %v", d.Round(time.Second))
}

// endsIn returns the time until a job that holds GPUs is complete, by its target and its model;
// negative if either is not known.
func endsIn(s *policy.Snapshot, j *policy.Job) time.Duration {
	rate, _ := j.Speed(j.Allocation)
	basis := s.Basis(j)
	left, from := basis.Time(rate)
	if !(rate > 0) || from != remaining.Stated {
		return -1
	}
	return left
}

// holders returns the jobs that hold GPUs, except the one at index but. Those that end soonest
// come first, those whose end is not known last.
func holders(s *policy.Snapshot, but int) []*policy.Job {
	var all []*policy.Job
	ends := make(map[job.ID]time.Duration)
	for i, j := range s.Jobs {
		if i == but || !j.Holding() {
			continue
		}
		all = append(all, j)
		if ends[j.ID] = endsIn(s, j); ends[j.ID] < 0 {
			ends[j.ID] = math.MaxInt64
		}
	}
	slices.SortStableFunc(all, func(a, b *policy.Job) int { return cmp.Compare(ends[a.ID], ends[b.ID]) })
	return all
}
