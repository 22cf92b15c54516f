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

// measured has what the metrics need of one run. Its fields are exported for gob.
type measured struct {
	Summary metrics.Summary
	JCTs    []float64 // hours, completed jobs
	Queued  []float64 // hours without GPUs
	OnLoan  []bool    // ever held GPUs on loan
	Rhos    []float64
	Least   time.Duration        // see run.MakespanBound
	Statics []float64            // see run.StaticRhos
	Millis  []float64            // of the policy, per round
	Gaps    []float64            // per round with a bound
	Sizes   []int32              // GPUs over time of the longest job; never empty
	Moves   int                  // between GPU types, of the longest job
	Hours   map[string][]float64 // GPU-hours of completed jobs, by class
	JCT     float64              // of the longest job, hours
	Values  map[string]float64   // of a case study, by metric
}

var metricTable = slices.Concat(runMetrics, timeMetrics, loanMetrics, classMetrics, studyMetrics)

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
	{"longest_gpus_max", "the most GPUs it ever held", func(runs []measured) float64 { return float64(slices.Max(longest(runs).Sizes)) }},
	{"longest_moves", "how often it changed its GPU type", func(runs []measured) float64 { return float64(longest(runs).Moves) }},
	{"done", "completed jobs of all runs", done},
}

// classMetrics have the models of Sia Table 3.2. Source: Sia Fig. 3.5.
var classMetrics = []metric{hoursOf("bert"), hoursOf("cifar10"), hoursOf("deepspeech2"), hoursOf("imagenet"), hoursOf("yolov3")}

func hoursOf(class string) metric {
	return metric{"gpu_hours_" + class, "GPU-hours of a completed job of class " + class + ", mean over all runs", func(runs []measured) float64 {
		all, sum := pool(runs, func(m *measured) []float64 { return m.Hours[class] }), 0.0
		for _, h := range all {
			sum += h
		}
		return sum / float64(max(1, len(all)))
	}}
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
			total += of(&runs[i].Summary)
		}
		return total / float64(max(1, len(runs)))
	}
}

func overBound(runs []measured) float64 {
	total := 0.0
	for i := range runs {
		total += runs[i].Summary.Makespan / runs[i].Least.Seconds()
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
		all := pool(runs, func(m *measured) []float64 { return m.JCTs })
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
		most = max(most, runs[i].Summary.MaxContention)
	}
	return float64(most)
}

func worstRho(runs []measured) float64 {
	return perf.WorstRho(pool(runs, func(m *measured) []float64 { return m.Rhos }))
}

func unfair(runs []measured) float64 {
	return 100 * perf.UnfairFraction(pool(runs, func(m *measured) []float64 { return m.Rhos }), 1)
}

func staticsOf(m *measured) []float64 { return m.Statics }

func gapsOf(m *measured) []float64 { return m.Gaps }

func meanGap(runs []measured) float64 {
	all, sum := pool(runs, gapsOf), 0.0
	for _, g := range all {
		sum += g
	}
	return 100 * sum / float64(max(1, len(all)))
}

func policyQuantile(q float64) func([]measured) float64 {
	return func(runs []measured) float64 {
		all := pool(runs, func(o *measured) []float64 { return o.Millis })
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
		total += runs[i].Summary.Done
	}
	return float64(total)
}

func longest(runs []measured) measured {
	return slices.MaxFunc(runs, func(a, b measured) int { return cmp.Compare(a.JCT, b.JCT) })
}

func resizes(runs []measured) float64 {
	count, sizes := 0, longest(runs).Sizes
	for i := 1; i < len(sizes); i++ {
		if sizes[i] != sizes[i-1] {
			count++
		}
	}
	return float64(count)
}

func shrinks(runs []measured) float64 {
	count, sizes := 0, longest(runs).Sizes
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

func movesOf(j *metrics.JobResult) int {
	moves := 0
	for i := 1; i < len(j.Intervals); i++ {
		if j.Intervals[i].Type != j.Intervals[i-1].Type {
			moves++
		}
	}
	return moves
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
	o.Statics, o.Least = run.StaticRhos(r, in), run.MakespanBound(in)
	return o
}

func measuredOf(r *run.Run) measured {
	o := measured{Summary: r.Result.Summary, Sizes: []int32{0}, Hours: map[string][]float64{}}
	for i := range r.Result.Jobs {
		j := &r.Result.Jobs[i]
		if j.Outcome != metrics.Done {
			continue
		}
		o.JCTs, o.Queued, o.OnLoan = append(o.JCTs, j.JCT/3600), append(o.Queued, j.Queued/3600), append(o.OnLoan, j.OnLoan)
		if h := j.JCT / 3600; h > o.JCT {
			o.JCT, o.Sizes, o.Moves = h, sizesOf(j), movesOf(j)
		}
		o.Hours[string(j.Class)] = append(o.Hours[string(j.Class)], j.Allocated/3600)
		if j.Rho > 0 {
			o.Rhos = append(o.Rhos, j.Rho)
		}
	}
	o.Gaps = r.Gaps
	for _, d := range r.PolicyTimes {
		o.Millis = append(o.Millis, float64(d)/float64(time.Millisecond))
	}
	return o
}

type point struct{ x, y float64 }

func (g Group) curve(x, y metric, results map[string][]measured) []point {
	var c []point
	for _, name := range g {
		c = append(c, point{x.of(results[name]), y.of(results[name])})
	}
	slices.SortFunc(c, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return c
}

// gain returns the largest (or least) ratio of the other, piecewise linear curve to ours at the same x, over all
// points of both; 0 if there is none.
func gain(ours, other []point, least bool) float64 {
	best := 0.0
	for _, s := range slices.Concat(ours, other) {
		mine, ok := at(ours, s.x)
		theirs, there := at(other, s.x)
		if g := theirs / mine; ok && there && (best == 0 || (g < best) == least) {
			best = g
		}
	}
	return best
}

func at(c []point, x float64) (y float64, ok bool) {
	if len(c) == 1 && c[0].x == x {
		return c[0].y, true
	}
	for i := 1; i < len(c); i++ {
		if a, b := c[i-1], c[i]; a.x <= x && x <= b.x {
			if a.x == b.x {
				return min(a.y, b.y), true
			}
			return a.y + (x-a.x)/(b.x-a.x)*(b.y-a.y), true
		}
	}
	return 0, false
}
