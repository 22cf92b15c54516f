package history

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

// A Question asks how long the jobs of a history would have waited and run under other policies.
type Question struct {
	Config    *config.Config // of the simulations; History.Prepare completes it
	History   *History
	Files     run.Files // files of a run, with the history as its trace
	Own       OwnPolicy
	Policies  []string
	Scenarios []Scenario
	Price     Price
	Seeds     int       // runs with different random choices, for scenarios that select jobs at random
	Progress  io.Writer // may be nil
}

// Defaults are the policies that oxgang whatif compares by default: Slurm's usual one and this project's.
var Defaults = []string{"multifactor", "oxgang"}

// precision is the best possible accuracy of a replayed wait: a pass of the main scheduler, and the rounding of
// a log to seconds.
const precision = batchDelay + time.Second

// accuracy returns the error below which waits count as reproduced: a round of backfilling if nine in ten
// jobs wait for less than a round, in the history and in the replay. Otherwise it is precision.
func (q *Question) accuracy(c *Comparison, gpus int) time.Duration {
	round := q.Own.round()
	longest := max(c.Figures(gpus, Observed).P90, c.Figures(gpus, Run(0)).P90)
	if longest < round.Seconds() {
		return max(round, precision)
	}
	return precision
}

// Answer simulates the policies of the question, and compares them with the cluster's own policy.
func (q *Question) Answer(ctx context.Context) (*Answer, error) {
	own, in, err := q.simulate(ctx, variant{policy: q.History.Baseline, scenario: &Rigid, seed: q.Config.Sim.Seed, own: true})
	if err != nil {
		return nil, err
	}
	a := &Answer{Own: cmp.Or(q.Own.called, q.History.Baseline), GPUs: in.Cluster.GPUs(), Cluster: q.Config.Cluster, price: &q.Price, recorded: len(q.History.Recorded.Jobs)}
	both := Compare(q.History.Jobs(), "", nil, own.Result)
	a.LeftOut, a.accuracy = q.History.LeftOut(in.Arrivals, in.Cluster), q.accuracy(both, in.Cluster.GPUs())
	a.Trust = q.History.Judge(own.Result, in, a.accuracy.Seconds(), q.causes())
	a.judged(both, in.Cluster.GPUs())
	if err := q.recordedWaits(a, own.Result, in); err != nil {
		return nil, err
	}
	if err := q.chance(ctx, a); err != nil {
		return nil, err
	}
	for i := range q.Scenarios {
		for _, p := range q.Policies {
			row, err := q.alternative(ctx, p, &q.Scenarios[i], own.Result, in.Cluster)
			if err != nil {
				return nil, err
			}
			a.Rows = append(a.Rows, row)
		}
	}
	a.choose()
	a.bySize()
	if a.best != nil && a.Rows[0].MeanWait > 0 {
		if err := q.fewer(ctx, a, in.Cluster); err != nil {
			return nil, err
		}
	}
	q.conditions(a)
	a.conclude()
	return a, nil
}

func (q *Question) alternative(ctx context.Context, policy string, s *Scenario, own *metrics.Result, nodes *cluster.Cluster) (Row, error) {
	seeds := 1
	if s.random() {
		seeds = q.Seeds
	}
	var rows []Row
	pool, was := own.LargestPool(), own.JobTimes()
	delays, jobs := metrics.NewDelays("your own policy", pool), make([][]metrics.JobTimes, seeds)
	for k := range seeds {
		q.say("%s, %s\n", policy, s.Name)
		result, _, err := q.simulate(ctx, variant{policy: policy, scenario: s, seed: q.Config.Sim.Seed + uint64(k)})
		if err != nil {
			return Row{}, err
		}
		jobs[k] = result.Result.JobTimes()
		delays.Add(q.Config.Sim.Seed+uint64(k), was, jobs[k], pool)
		both := Compare(q.History.Jobs(), "", nil, own, result.Result)
		f := both.Figures(nodes.GPUs(), Run(1))
		row := rowOf(called(policy), s.Name, &f)
		row.jobs, row.policy, row.scenario = both.Pairs, policy, s
		row.change = statistics.Between(changes(both.Pairs), q.Config.Sim.Seed)
		rows = append(rows, row)
	}
	all := merged(rows)
	all.delays, all.waits = delays, metrics.WaitsBySize(pool, jobs...)
	return all, nil
}

func (q *Question) recordedWaits(a *Answer, own *metrics.Result, in *run.Inputs) error {
	observed, err := ObservedRun(q.History.Jobs(), in.Arrivals, in.Cluster)
	if err != nil {
		return err
	}
	pool := own.LargestPool()
	a.Rows[0].waits = metrics.WaitsBySize(pool, observed.Result.JobTimes())
	a.Rows[1].waits = metrics.WaitsBySize(pool, own.JobTimes())
	return nil
}

// called returns the name of an alternative: without the priorities of a history, Slurm's policy has age alone.
func called(policy string) string {
	if policy == "multifactor" {
		return policy + " by age"
	}
	return policy
}

func changes(pairs []Pair) []statistics.Pair {
	all := make([]statistics.Pair, len(pairs))
	for i := range pairs {
		p := &pairs[i]
		all[i] = statistics.Pair{At: p.Observed.Submitted, Was: p.Runs[0].Wait.Seconds(), Would: p.Runs[1].Wait.Seconds()}
	}
	return all
}

func (q *Question) causes() []string {
	all := q.History.Causes(q.Config)
	return append(q.Own.unknown(q.History), slices.DeleteFunc(all, func(c string) bool { return c == NotExactly(q.History.Baseline) })...)
}

func (q *Question) say(format string, args ...any) {
	if q.Progress != nil {
		fmt.Fprintf(q.Progress, format, args...)
	}
}

func (q *Question) conditions(a *Answer) {
	a.RestsOn = append(a.RestsOn, fmt.Sprintf("%d jobs that ended, of %d in the history, on %d GPUs: %s", len(a.jobs), len(q.History.Recorded.Jobs), a.GPUs, a.Cluster))
	if a.Trust.Trusted {
		a.RestsOn = append(append(a.RestsOn, Named(a.LeftOut)...), q.causes()...)
	}
	a.Must = append(a.Must, "each job runs as long as recorded, whatever runs next to it", "users submit the same jobs at the same times, even if waits change", "the scheduler has time limits, not real run times")
	for i := range q.Scenarios {
		a.Must = append(a.Must, "scenario "+q.Scenarios[i].says())
	}
	if q.Own.kueue {
		a.Must = append(a.Must, "alternatives ignore quotas: all jobs may use all GPUs", "policies with priorities (easy, kueue, multifactor, oxgang) use the priorities of Workloads; other policies treat all jobs alike")
	} else {
		a.Must = append(a.Must, "alternatives ignore priorities of users, partitions and quality of service")
	}
	a.Must = append(a.Must,
		fmt.Sprintf("the %.0f %% intervals apply to a comparable period of the same length; in tests on halves of histories, 24 of 31 held (docs/experiments/whatif.md)", 100*statistics.Share))
}
