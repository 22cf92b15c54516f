package simulate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/resample"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A variant is one way to run the jobs of a history.
type variant struct {
	policy   string
	scenario *scenario
	seed     uint64
	own      bool             // with the priorities that the history says
	shaken   uint64           // which fractions of a second times have that the log has whole; 0: none
	nodes    *cluster.Cluster // nil: those of the history
}

// shake gives times fractions of a second, as they may have had: a log has whole seconds.
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

// Replays with other fractions of a second show how much of an error is chance, of histories that are not too long.
const (
	shakes      = 8
	mostShaken  = 5000 // jobs
	worthSaying = 0.01 // of the mean wait
)

// chance adds to the causes how far replays differ by what the log leaves out.
func (q *question) chance(ctx context.Context, a *answer) error {
	if a.Trust.Trusted || len(a.jobs) > mostShaken || len(a.jobs) == 0 || a.replayed.MeanWait == 0 {
		return nil
	}
	low, high, sum := math.Inf(1), 0.0, 0.0
	for k := range shakes {
		run, _, err := q.simulate(ctx, variant{policy: q.past.baseline, scenario: &rigidJobs, seed: q.config.Sim.Seed, own: true, shaken: uint64(k + 1)})
		if err != nil {
			return err
		}
		f := history.Compare(q.past.Jobs(), "", nil, run.Result).Figures(a.GPUs, history.Run(0))
		low, high, sum = min(low, f.Wait), max(high, f.Wait), sum+f.Wait
	}
	was := max(1, a.Rows[0].MeanWait)
	a.average = sum/shakes/was - 1
	if (high-low)/was < worthSaying {
		return nil
	}
	a.Trust.Causes = append(a.Trust.Causes, fmt.Sprintf("chance: with other fractions of a second, which the log leaves out, the mean wait is %+.0f to %+.0f %% off, on average %+.0f %%",
		100*(low/was-1), 100*(high/was-1), 100*a.average))
	return nil
}

// simulate runs a variant.
func (q *question) simulate(ctx context.Context, v variant) (*run.Run, *run.Inputs, error) {
	c := *q.config
	c.Policies, c.Sim.Seed = []string{v.policy}, v.seed
	v.scenario.apply(&c)
	if v.own {
		c.Settings = append(slices.Clone(q.own.alone), c.Settings...)
	}
	entry, err := registry.Find(v.policy)
	if err != nil {
		return nil, nil, err
	}
	pace(&c, entry.Traits().Sizes, &q.own)
	in, err := run.Load(&c, q.past.files(ctx, c.Trace))
	if err != nil {
		return nil, nil, err
	}
	prioritise(in.Arrivals, q.past.Jobs(), v.own || q.own.kueue)
	for i := range in.Arrivals {
		in.Arrivals[i].Spec.NonPreemptive = !v.scenario.Preempt
	}
	v.shake(in.Arrivals)
	nodes := in.Cluster
	if v.nodes != nil {
		nodes = v.nodes
	}
	run, err := run.SimulateVariant(ctx, &c, in, v.policy, nodes, 0)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s, %s: %w", v.policy, v.scenario.Name, err)
	case len(run.Refused) > 0:
		return nil, nil, fmt.Errorf("%s, %s: %d plans were refused: %s", v.policy, v.scenario.Name, len(run.Refused), run.Refused[0])
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	}
	return run, in, nil
}

// precision is how near a replayed wait can be: a pass of the main scheduler, and the second to which a log is rounded.
const precision = batchDelay + time.Second

// answer simulates what was asked.
func (q *question) answer(ctx context.Context) (*answer, error) {
	own, in, err := q.simulate(ctx, variant{policy: q.past.baseline, scenario: &rigidJobs, seed: q.config.Sim.Seed, own: true})
	if err != nil {
		return nil, err
	}
	a := &answer{Own: cmp.Or(q.own.called, q.past.baseline), GPUs: in.Cluster.GPUs(), Cluster: q.config.Cluster, price: &q.price}
	a.Trust = history.Judge(q.past.Jobs(), own.Result, in.Cluster, precision.Seconds(), q.causes())
	a.judged(history.Compare(q.past.Jobs(), "", nil, own.Result), in.Cluster.GPUs())
	if err := q.chance(ctx, a); err != nil {
		return nil, err
	}
	for i := range q.scenarios {
		for _, p := range q.policies {
			row, err := q.alternative(ctx, p, &q.scenarios[i], own.Result, in.Cluster)
			if err != nil {
				return nil, err
			}
			a.Rows = append(a.Rows, row)
		}
	}
	a.choose()
	if a.best != nil && a.Rows[0].MeanWait > 0 {
		if err := q.fewer(ctx, a, in.Cluster); err != nil {
			return nil, err
		}
	}
	q.conditions(a)
	a.conclude()
	return a, nil
}

// alternative returns the row of a policy in a scenario.
func (q *question) alternative(ctx context.Context, policy string, s *scenario, own *metrics.Result, nodes *cluster.Cluster) (answerRow, error) {
	seeds := 1
	if s.random() {
		seeds = q.seeds
	}
	var rows []answerRow
	for k := range seeds {
		q.say("%s, %s\n", policy, s.Name)
		run, _, err := q.simulate(ctx, variant{policy: policy, scenario: s, seed: q.config.Sim.Seed + uint64(k)})
		if err != nil {
			return answerRow{}, err
		}
		both := history.Compare(q.past.Jobs(), "", nil, own, run.Result)
		f := both.Figures(nodes.GPUs(), history.Run(1))
		row := rowOf(called(policy), s.Name, &f)
		row.jobs, row.policy, row.scenario = both.Pairs, policy, s
		row.change = resample.Between(changes(both.Pairs), q.config.Sim.Seed)
		rows = append(rows, row)
	}
	return merged(rows), nil
}

// called returns what an alternative is called: without the priorities of a history, Slurm's policy has age alone.
func called(policy string) string {
	if policy == "multifactor" {
		return policy + ", age alone"
	}
	return policy
}

// changes returns the waits under the own policy, replayed, and under another.
func changes(pairs []history.Pair) []resample.Pair {
	all := make([]resample.Pair, len(pairs))
	for i := range pairs {
		p := &pairs[i]
		all[i] = resample.Pair{At: p.Observed.Submitted, Was: p.Runs[0].Wait.Seconds(), Would: p.Runs[1].Wait.Seconds()}
	}
	return all
}

// causes says what may make the replay differ from what was observed.
func (q *question) causes() []string {
	all := q.past.Causes(q.config)
	return append(q.own.unknown(q.past.History), slices.DeleteFunc(all, func(c string) bool { return c == history.NotExactly(q.past.baseline) })...)
}

// say writes progress.
func (q *question) say(format string, args ...any) {
	if !q.quiet {
		fmt.Fprintf(q.stderr, format, args...)
	}
}

// conditions says what the answer rests on, and what would have to be true.
func (q *question) conditions(a *answer) {
	a.RestsOn = append(a.RestsOn, fmt.Sprintf("%d jobs that ended, of %d in the history, on %d GPUs: %s", len(a.jobs), len(q.past.Recorded.Jobs), a.GPUs, a.Cluster))
	a.RestsOn = append(a.RestsOn, fmt.Sprintf("your own policy, replayed as %s: %s", a.Own, a.Trust.Errors()))
	if !a.Trust.Trusted {
		a.RestsOn = append(a.RestsOn, a.Trust.Causes...)
	} else {
		a.RestsOn = append(a.RestsOn, q.causes()...)
	}
	a.Must = append(a.Must, "jobs run as long as they ran, whoever else runs beside them", "users submit the same jobs at the same times, however long they wait", "the scheduler knows time limits, not how long jobs will really run")
	for i := range q.scenarios {
		a.Must = append(a.Must, "scenario "+q.scenarios[i].says())
	}
	if q.own.kueue {
		a.Must = append(a.Must, "alternatives know no quotas of queues: all GPUs are open to all jobs", "policies that read priorities (easy, kueue, multifactor, oxgang) have those of Workloads; to others all jobs count alike")
	} else {
		a.Must = append(a.Must, "alternatives know no priorities of users, partitions or quality of service: all jobs count alike")
	}
	a.Must = append(a.Must,
		fmt.Sprintf("the %.0f %% ranges hold for another stretch of time like this one, as long; of 31 that were tried on halves of histories 24 did (docs/experiments/whatif.md)", 100*resample.Share))
}
