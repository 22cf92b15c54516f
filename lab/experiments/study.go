package experiments

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/usage"
	"github.com/oxgang/oxgang/lab/casestudy/rounds"
	"github.com/oxgang/oxgang/lab/casestudy/shards"
	"github.com/oxgang/oxgang/lab/casestudy/te"
	_ "github.com/oxgang/oxgang/policy/rivals" // to compare all policies
	"github.com/oxgang/oxgang/simulate/run"
)

// A Study runs a case study of solvers instead of a simulation. Its times are processor times of one thread.
type Study struct {
	Case   string `yaml:"case"`   // rounds, shards or te
	Method string `yaml:"method"` // see oxgang lab solvers
	Rounds int    `yaml:"rounds"` // measured
	Skip   int    `yaml:"skip"`   // for shards and te: number of first rounds that means exclude
	Seed   uint64 `yaml:"seed"`   // default 1

	GPUs int `yaml:"gpus"` // for rounds

	Shards  int    `yaml:"shards"`
	Servers int    `yaml:"servers"`
	Load    string `yaml:"load"` // of shards: stateless or stateful

	Topology string  `yaml:"topology"` // of te: a file; {data} is the folder of the shared data
	Demand   string  `yaml:"demand"`   // of te: poisson or bimodal
	Decay    float64 `yaml:"decay"`    // of te, poisson; 0: the default
}

var studyMetrics = []metric{
	valueOf("solve_p50_ms", "processor time of a round, median, milliseconds"),
	valueOf("solve_mean_ms", "processor time of a round, mean, milliseconds"),
	valueOf("solve_p99_ms", "processor time of a round, 99th percentile, milliseconds; of te the longest"),
	valueOf("solve_parallel_ms", "mean time of a round with the parts of pop:K on 64 cores, milliseconds"),
	valueOf("plan_value", "value of the plan, mean over rounds"),
	valueOf("gap_worst_pct", "largest gap of a round's plan to the best known bound, percent"),
	valueOf("whole_pct", "values of the relaxation that are 0 or 1, percent"),
	valueOf("changed_pct", "values of the relaxation that changed from the round before, percent"),
	valueOf("movements", "replicas started per round"),
	valueOf("imbalance_pct", "highest less lowest load of a server, percent of the mean load, mean over rounds"),
	valueOf("mean_load_min", "least mean load of a server in any round; the hottest shard has 1"),
	valueOf("mean_load_max", "largest mean load of a server in any round"),
	valueOf("flow", "total flow within the links' capacities, mean over rounds"),
	valueOf("served_pct", "flow over demand, percent"),
	valueOf("largest_tenth_pct", "volume of the largest tenth of the demands, percent of all"),
}

func valueOf(name, doc string) metric {
	return metric{name, doc, func(runs []measured) float64 {
		sum := 0.0
		for i := range runs {
			sum += runs[i].Values[name]
		}
		return sum / float64(max(1, len(runs)))
	}}
}

var studies = map[string]func(*Study, context.Context, run.Files) (map[string]float64, error){
	"rounds": (*Study).solveRounds,
	"shards": (*Study).balanceShards,
	"te":     (*Study).carryFlow,
}

func (s *Study) validate() error {
	if _, known := studies[s.Case]; !known || s.Method == "" || s.Rounds < 1 || s.Skip < 0 || s.Skip >= s.Rounds {
		return fmt.Errorf("study %q, method %q, %d rounds, %d skipped: want one of %v, a method, at least one round, fewer skipped",
			s.Case, s.Method, s.Rounds, s.Skip, slices.Sorted(maps.Keys(studies)))
	}
	return nil
}

func (s Study) run(ctx context.Context, o Options) (measured, error) {
	s.Seed = cmp.Or(s.Seed, 1)
	s.Topology = strings.ReplaceAll(s.Topology, "{data}", o.Data)
	values, err := studies[s.Case](&s, ctx, o.Files)
	return measured{Values: values}, err
}

func (s *Study) solveRounds(ctx context.Context, _ run.Files) (map[string]float64, error) {
	study := rounds.Study{Spec: rounds.NewSpec(s.GPUs), Engines: []string{s.Method}, Rounds: s.Rounds}
	study.Spec.Seed = s.Seed
	all, err := study.Run(ctx, nil)
	if err != nil {
		return nil, err
	}
	sum := rounds.Summarise(all)[0]
	return map[string]float64{
		"solve_p50_ms": milliseconds(sum.P50), "solve_p99_ms": milliseconds(sum.P99),
		"plan_value": sum.Value, "gap_worst_pct": 100 * sum.Gap, "whole_pct": 100 * (1 - sum.Between), "changed_pct": 100 * sum.Changed,
	}, nil
}

func (s *Study) balanceShards(ctx context.Context, _ run.Files) (map[string]float64, error) {
	spec := shards.DefaultSpec()
	spec.Shards, spec.Servers, spec.Seed = s.Shards, s.Servers, s.Seed
	spec.Drift = shards.Drift(cmp.Or(s.Load, string(shards.Stateless)))
	method, err := shards.NewMethod(s.Method, s.Seed, usage.ProcessTime)
	if err != nil {
		return nil, err
	}
	trial := shards.Trial{Spec: spec, Rounds: s.Rounds, Clock: usage.ProcessTime}
	all, err := trial.Simulate(ctx, method)
	if err != nil {
		return nil, err
	}
	r := shards.Run{Method: s.Method, Spec: spec, Rounds: all}
	sum := r.Summarise(s.Skip)
	values := map[string]float64{
		"solve_mean_ms": milliseconds(sum.CPU), "solve_p99_ms": milliseconds(sum.CPU99), "solve_parallel_ms": milliseconds(sum.Parallel),
		"movements": sum.Movements, "imbalance_pct": 100 * sum.Imbalance,
		"mean_load_min": all[0].MeanLoad, "mean_load_max": all[0].MeanLoad,
	}
	if sum.Whole >= 0 { // not NaN: a method with a relaxation
		values["whole_pct"] = 100 * sum.Whole
	}
	for i := range all {
		values["mean_load_min"] = min(values["mean_load_min"], all[i].MeanLoad)
		values["mean_load_max"] = max(values["mean_load_max"], all[i].MeanLoad)
	}
	return values, nil
}

func (s *Study) carryFlow(ctx context.Context, files run.Files) (map[string]float64, error) {
	spec, err := s.network(files)
	if err != nil {
		return nil, err
	}
	method, err := te.NewMethod(s.Method, s.Seed, usage.ProcessTime)
	if err != nil {
		return nil, err
	}
	top := largestTenth(spec.Demands)
	all, err := te.Run(ctx, *spec, []te.Method{method}, s.Rounds, usage.ProcessTime, nil)
	if err != nil {
		return nil, err
	}
	sum := te.Summarise(all, s.Skip)[0]
	return map[string]float64{
		"solve_mean_ms": milliseconds(sum.CPU), "solve_p99_ms": milliseconds(sum.Worst), "solve_parallel_ms": milliseconds(sum.Parallel),
		"flow": sum.Flow, "served_pct": 100 * sum.Served, "gap_worst_pct": 100 * sum.Gap, "largest_tenth_pct": top,
	}, nil
}

func (s *Study) network(files run.Files) (*te.Spec, error) {
	f, err := files.Open(s.Topology)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := te.ReadTopology(s.Topology, f)
	if err != nil {
		return nil, err
	}
	traffic := te.DefaultTraffic(te.Kind(s.Demand), s.Seed)
	traffic.Decay = cmp.Or(s.Decay, traffic.Decay)
	demands, err := traffic.Demands(t)
	return &te.Spec{Topology: t, Demands: demands, Paths: 4, Move: 0.1, Seed: s.Seed}, err
}

func largestTenth(demands []te.Demand) float64 {
	all := te.Total(demands)
	return 100 * te.Total(te.Heaviest(demands, len(demands)/10)) / all
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
