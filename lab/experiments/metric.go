package experiments

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/run"
)

type metric struct {
	name string
	doc  string
	of   func(runs []measured) float64
}

type measured struct {
	summary metrics.Summary
	jcts    []float64 // hours, completed jobs
	queued  []float64 // hours without GPUs
	onLoan  []bool    // ever held GPUs on loan
	rhos    []float64
	least   time.Duration // see run.MakespanBound
	statics []float64     // see run.StaticRhos
	millis  []float64     // of the policy, per round
	gaps    []float64     // per round with a bound
	sizes   []int32       // GPUs over time of the longest job; never empty
	jct     float64
}

var metricTable = slices.Concat(runMetrics, timeMetrics, loanMetrics)

var runMetrics = []metric{
	{"jct_mean_h", "mean over runs of the mean JCT, hours", mean(func(s *metrics.Summary) float64 { return s.MeanJCT / 3600 })},
	{"jct_p99_h", "99th percentile of all runs' JCTs together, hours", pooledQuantile(0.99)},
	{"jct_p95_h", "95th percentile of all runs' JCTs together, hours", pooledQuantile(0.95)},
	{"gpus_mean", "paid GPUs, mean over time and runs: available ones, and rented ones from order to return", mean(paidGPUs)},
	{"gpus_busy_mean", "held GPUs, mean over time and runs", mean(func(s *metrics.Summary) float64 { return s.Utilisation * s.MeanGPUs })},
	{"spend_mean", "cost of paid GPUs per hour, mean over time and runs; a GPU-hour without a price costs 1", mean(func(s *metrics.Summary) float64 { return s.MeanSpending })},
	{"spend_worst_week", "highest cost per hour of any 7 days, including returned nodes until they are gone", mean(worstWeek)},
	{"queued_mean_h", "mean over runs of the mean time without GPUs, hours", mean(func(s *metrics.Summary) float64 { return s.MeanQueued / 3600 })},
	{"makespan_h", "mean over runs, hours", mean(func(s *metrics.Summary) float64 { return s.Makespan / 3600 })},
	{"makespan_over_bound", "makespan over the larger of the longest job alone and the work of all jobs spread over all GPUs, mean over runs; for jobs of fixed size on one GPU type", overBound},
	{"gpu_hours_per_job", "mean over runs", mean(func(s *metrics.Summary) float64 { return s.GPUHoursPerJob })},
	{"restarts_per_job", "mean over runs", mean(func(s *metrics.Summary) float64 { return s.RestartsPerJob })},
	{"contention_mean", "active jobs per round, mean over runs", mean(func(s *metrics.Summary) float64 { return s.MeanContention })},
	{"contention_max", "most active jobs in a round of any run", maxContention},
	{"rho_worst", "worst finish-time fairness of any job", worstRho},
	{"rho_unfair_pct", "jobs of all runs whose rho is above 1, percent", unfair},
	{"rho_static_worst", "worst rho of any job by the public Shockwave code's static definition: JCT over (time alone on its GPUs x max(1, jobs of the trace / GPUs))", func(runs []measured) float64 { return perf.WorstRho(pool(runs, staticsOf)) }},
	{"rho_static_unfair_pct", "jobs whose rho by that definition is above 1, percent", func(runs []measured) float64 { return 100 * perf.UnfairFraction(pool(runs, staticsOf), 1) }},
	{"rho_static_above_1.1_pct", "jobs whose rho by that definition is above 1.1, percent: the unfair jobs of Shockwave's plots", func(runs []measured) float64 { return 100 * perf.UnfairFraction(pool(runs, staticsOf), 1.1) }},
	{"policy_p50_ms", "policy time per round, median of all rounds", policyQuantile(0.5)},
	{"policy_p95_ms", "policy time per round, 95th percentile of all rounds", policyQuantile(0.95)},
	{"bound_gap_worst_pct", "largest gap of a round's placed plan to its bound on the sum of relative speeds, percent", func(runs []measured) float64 { return 100 * slices.Max(append(pool(runs, gapsOf), 0)) }},
	{"bound_gap_p99_pct", "the same, 99th percentile of all rounds", gapQuantile(0.99)},
	{"bound_gap_mean_pct", "the same, mean over all rounds", meanGap},
	{"longest_resizes", "how often the job with the longest JCT changed its number of GPUs", resizes},
	{"longest_shrinks", "how often it shrank", shrinks},
	{"longest_gpus_max", "the most GPUs it ever held", func(runs []measured) float64 { return float64(slices.Max(longest(runs).sizes)) }},
	{"done", "completed jobs of all runs", done},
}

func findMetric(name string) (metric, bool) {
	for _, m := range metricTable {
		if m.name == name {
			return m, true
		}
	}
	return metric{}, false
}

func metricNames() []string {
	names := make([]string, len(metricTable))
	for i, m := range metricTable {
		names[i] = m.name
	}
	return names
}

func mean(of func(*metrics.Summary) float64) func([]measured) float64 {
	return func(runs []measured) float64 {
		total := 0.0
		for i := range runs {
			total += of(&runs[i].summary)
		}
		return total / float64(max(1, len(runs)))
	}
}

func overBound(runs []measured) float64 {
	total := 0.0
	for i := range runs {
		total += runs[i].summary.Makespan / runs[i].least.Seconds()
	}
	return total / float64(max(1, len(runs)))
}

func pool(runs []measured, of func(*measured) []float64) []float64 {
	var all []float64
	for i := range runs {
		all = append(all, of(&runs[i])...)
	}
	return all
}

// pooledQuantile returns sorted[int(q n)] of the JCTs of all runs, because published figures are compared with it: the public
// simulators of Sia and Synergy round down. metrics.Quantile, nearest rank, can be one place lower.
func pooledQuantile(q float64) func([]measured) float64 {
	return func(runs []measured) float64 {
		all := pool(runs, func(m *measured) []float64 { return m.jcts })
		if len(all) == 0 {
			return 0
		}
		slices.Sort(all)
		return all[min(int(q*float64(len(all))), len(all)-1)]
	}
}

func paidGPUs(s *metrics.Summary) float64 {
	if s.Rent == nil || s.Rent.Hours == 0 {
		return s.MeanGPUs
	}
	return s.MeanGPUs + s.Rent.MeanGPUs*s.Rent.Starting/s.Rent.Hours
}

func worstWeek(s *metrics.Summary) float64 {
	if s.Rent == nil {
		return 0
	}
	return s.Rent.WorstWeek
}

func maxContention(runs []measured) float64 {
	most := 0
	for i := range runs {
		most = max(most, runs[i].summary.MaxContention)
	}
	return float64(most)
}

func worstRho(runs []measured) float64 {
	return perf.WorstRho(pool(runs, func(m *measured) []float64 { return m.rhos }))
}

func unfair(runs []measured) float64 {
	return 100 * perf.UnfairFraction(pool(runs, func(m *measured) []float64 { return m.rhos }), 1)
}

func staticsOf(m *measured) []float64 { return m.statics }

func gapsOf(m *measured) []float64 { return m.gaps }

func meanGap(runs []measured) float64 {
	all, sum := pool(runs, gapsOf), 0.0
	for _, g := range all {
		sum += g
	}
	return 100 * sum / float64(max(1, len(all)))
}

func policyQuantile(q float64) func([]measured) float64 {
	return func(runs []measured) float64 {
		all := pool(runs, func(o *measured) []float64 { return o.millis })
		slices.Sort(all)
		return metrics.Quantile(all, q)
	}
}

func gapQuantile(q float64) func([]measured) float64 {
	return func(runs []measured) float64 {
		all := pool(runs, gapsOf)
		slices.Sort(all)
		return 100 * metrics.Quantile(all, q)
	}
}

func done(runs []measured) float64 {
	total := 0
	for i := range runs {
		total += runs[i].summary.Done
	}
	return float64(total)
}

func longest(runs []measured) measured {
	return slices.MaxFunc(runs, func(a, b measured) int { return cmp.Compare(a.jct, b.jct) })
}

func resizes(runs []measured) float64 {
	count, sizes := 0, longest(runs).sizes
	for i := 1; i < len(sizes); i++ {
		if sizes[i] != sizes[i-1] {
			count++
		}
	}
	return float64(count)
}

func shrinks(runs []measured) float64 {
	count, sizes := 0, longest(runs).sizes
	for i := 1; i < len(sizes); i++ {
		if sizes[i] < sizes[i-1] {
			count++
		}
	}
	return float64(count)
}

func sizesOf(j *metrics.JobResult) []int32 {
	sizes := []int32{}
	for _, iv := range j.Intervals {
		sizes = append(sizes, iv.GPUs)
	}
	if len(sizes) == 0 {
		return []int32{0}
	}
	return sizes
}

func valuesOf(names []string, runs []measured) []float64 {
	all := make([]float64, len(names))
	for i, name := range names {
		m, known := findMetric(name)
		if !known {
			panic("unknown metric " + name)
		}
		all[i] = m.of(runs)
	}
	return all
}

func measure(r *run.Run, in *run.Inputs) measured {
	o := measuredOf(r)
	o.statics, o.least = run.StaticRhos(r, in), run.MakespanBound(in)
	return o
}

func measuredOf(r *run.Run) measured {
	o := measured{summary: r.Result.Summary, sizes: []int32{0}}
	for i := range r.Result.Jobs {
		j := &r.Result.Jobs[i]
		if j.Outcome != metrics.Done {
			continue
		}
		o.jcts, o.queued, o.onLoan = append(o.jcts, j.JCT/3600), append(o.queued, j.Queued/3600), append(o.onLoan, j.OnLoan)
		if h := j.JCT / 3600; h > o.jct {
			o.jct, o.sizes = h, sizesOf(j)
		}
		if j.Rho > 0 {
			o.rhos = append(o.rhos, j.Rho)
		}
	}
	o.gaps = r.Gaps
	for _, d := range r.PolicyTimes {
		o.millis = append(o.millis, float64(d)/float64(time.Millisecond))
	}
	return o
}
