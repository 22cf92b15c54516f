package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/multifactor"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

type variant struct {
	policy   string
	scenario *Scenario
	seed     uint64
	own      bool             // with the history's priorities
	shaken   uint64           // seed of the fractions of a second that a log lacks; 0: none
	nodes    *cluster.Cluster // nil: the history's
}

// shake adds random fractions of a second to times, because a log has whole seconds.
func (v *variant) shake(arrivals []workload.Arrival) {
	if v.shaken == 0 {
		return
	}
	draw := rng.Stream(v.shaken, "fractions")
	part := func() time.Duration { return time.Duration(draw.Float64() * float64(time.Second)) }
	for i := range arrivals {
		a := &arrivals[i]
		a.At, a.Duration = a.At+part(), max(time.Second/2, a.Duration+part()-time.Second/2)
	}
}

func (q *Question) simulate(ctx context.Context, v variant) (*run.Run, *run.Inputs, error) {
	c := *q.Config
	c.Policies, c.Sim.Seed = []string{v.policy}, v.seed
	v.scenario.apply(&c)
	c.Settings = append(byNode(v.policy), c.Settings...)
	if v.own {
		c.Settings = append(slices.Clone(q.Own.alone), c.Settings...)
	}
	entry, err := registry.Find(v.policy)
	if err != nil {
		return nil, nil, err
	}
	pace(&c, entry.Traits().Sizes, &q.Own)
	in, err := run.Load(&c, q.Files)
	if err != nil {
		return nil, nil, err
	}
	prioritise(in.Arrivals, q.History.Jobs(), v.own || q.Own.kueue)
	for i := range in.Arrivals {
		in.Arrivals[i].Spec.NonPreemptive = !v.scenario.Preempt
	}
	v.shake(in.Arrivals)
	nodes := in.Cluster
	if v.nodes != nil {
		nodes = v.nodes
	}
	result, err := run.SimulateVariant(ctx, &c, in, v.policy, nodes, 0)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s, %s: %w", v.policy, v.scenario.Name, err)
	case len(result.Refused) > 0:
		return nil, nil, fmt.Errorf("%s, %s: %d plans were refused: %s", v.policy, v.scenario.Name, len(result.Refused), result.Refused[0])
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	}
	return result, in, nil
}

// byNode returns the setting with which a policy starts jobs only where they fit on nodes, as a real cluster does.
func byNode(policy string) []string {
	if policy == "easy" || policy == "fifo" {
		return []string{policy + ".by-node=true"}
	}
	return nil
}

// prioritise gives arrivals the priorities of the history, or none. Slurm's priorities are used only by its own
// policy, multifactor, which computed them. Kueue's are the users' own.
func prioritise(arrivals []workload.Arrival, jobs map[job.ID]*parse.Observed, known bool) {
	for i := range arrivals {
		s := &arrivals[i].Spec
		if s.Priority = 0; known && jobs[s.ID] != nil {
			s.Priority = jobs[s.ID].Arrival.Spec.Priority
		}
	}
}

// batchDelay is the shortest time between passes of Slurm's main scheduler. Source: slurm.conf(5),
// batch_sched_delay.
const batchDelay = 3 * time.Second

// admissionDelay is the assumed shortest time between decisions of Kueue: a dump has whole seconds.
const admissionDelay = time.Second

// pace sets how often a policy decides: as soon as something happens if it runs jobs as submitted; else every
// minute, and when a job comes while GPUs are idle.
func pace(c *config.Config, sizes bool, own *OwnPolicy) {
	if c.IsSet("round") || c.IsSet("scheduler.on-event") || c.IsSet("scheduler.on-submit") {
		return
	}
	if c.Scheduler.OnSubmit = sizes; sizes {
		return
	}
	c.Scheduler.OnEvent = batchDelay
	if own.kueue {
		c.Scheduler.OnEvent = admissionDelay
	}
	c.Scheduler.Round = own.round()
}

func (own *OwnPolicy) round() time.Duration {
	if s := own.slurm; s != nil && s.Interval > 0 {
		return s.Interval
	}
	return multifactor.DefaultOptions().Interval
}
