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

// Unblock returns the cheapest change by which a job of the snapshot that waits would get
// GPUs, or one that runs more of them. It asks a fresh policy what it would decide if that
// alone were different, from cheap to dear: nothing; fewer GPUs asked for, halved down to
// 1; another GPU type; checkpoints, and leave to be preempted; one, two, four and more GPUs
// of a type in the cluster, up to twice as many; one of the jobs that hold GPUs gone, the
// soonest to end first. It returns one of kind NothingHelps if none of them does.
//
// A fresh policy knows nothing of rounds before: one that shares time out may decide
// otherwise. It returns an error if the snapshot has no such job, or Fresh or ctx fail.
// Complexity: at most 64 plans.
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

// decide returns what a fresh policy gives a job of a snapshot: nothing if its plan breaks
// a rule.
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

// planned returns a policy's placed plan for a snapshot; nil if it has none, or it breaks a
// rule. What it would know a round later, it knows at once.
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

// A Change is one thing that is different, and what a job would then get.
type Change struct {
	Kind  Kind
	GPUs  int             // asked for, of FewerGPUs; more, of MoreGPUs
	Type  cluster.GPUType // of AnotherType and MoreGPUs
	Job   job.ID          // of OneEnds
	In    time.Duration   // until that job ends by its model, of OneEnds; negative: not known
	Gets  cluster.Allocation
	Asked int // plans that were asked for
}

// A Kind is one entry of the closed list of changes.
type Kind uint8

// The kinds of change, from cheap to dear.
const (
	NoChange     Kind = iota // the next round helps
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

// endsIn returns how long a job that holds GPUs trains on by what it states of its work and
// what is believed of its speed; negative if either is not known.
func endsIn(s *policy.Snapshot, j *policy.Job) time.Duration {
	rate, _ := j.Speed(j.Allocation)
	basis := s.Basis(j)
	left, from := basis.Time(rate)
	if !(rate > 0) || from != remaining.Stated {
		return -1
	}
	return left
}

// holders returns the jobs but one that hold GPUs, the soonest to end first; those of which
// that is not known come last.
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
