package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/metrics"
)

// Conventions is a sentence that explains how GPU-hours and utilisation are counted.
const Conventions = `GPU-hours are held GPU time plus profiling, including the rest of the round in which a job
ends. Utilisation is held GPU time divided by available GPU time. It includes restarts and
the rest of such rounds, but not profiling.`

type column struct {
	key      string // in JSON, YAML and CSV
	header   string // with its unit
	title    string // on the page
	unit     string // on the page; may be empty
	decimals int
	shown    view
	about    group
	better   direction
	value    func(*Run) (v float64, known bool)
}

type view uint8

const (
	narrow view = iota // table, wide and the page
	wide
	onPageToo
	data  // only programs
	paged // it depends on the machine
)

type group uint8

const (
	ofTheJobs group = iota
	ofTheGPUs
	ofTheSizes
)

type direction int8

const (
	lower  direction = -1
	none   direction = 0
	higher direction = 1
)

type valueFunc = func(*Run) (float64, bool)

func known(f func(*metrics.Summary) float64) valueFunc {
	return func(r *Run) (float64, bool) { return f(&r.Result.Summary), true }
}

func positive(f func(*metrics.Summary) float64) valueFunc {
	return func(r *Run) (float64, bool) { v := f(&r.Result.Summary); return v, v > 0 }
}

func ofDone(f func(*metrics.Summary) float64) valueFunc {
	return func(r *Run) (float64, bool) { return f(&r.Result.Summary), r.Result.Summary.Done > 0 }
}

// partOf makes value functions of a part of the summary. The value is unknown if the part is nil or has returns false.
func partOf[T any](part func(*metrics.Summary) *T, has func(*T) bool) func(func(*T) float64) valueFunc {
	return func(f func(*T) float64) valueFunc {
		return func(r *Run) (float64, bool) {
			x := part(&r.Result.Summary)
			if x == nil || !has(x) {
				return 0, false
			}
			return f(x), true
		}
	}
}

func always[T any](*T) bool { return true }

func rentOf(s *metrics.Summary) *metrics.Rent { return s.Rent }

var (
	ofRho     = partOf(func(s *metrics.Summary) *metrics.RhoSummary { return s.Rho }, always)
	ofRent    = partOf(rentOf, always)
	worstWeek = partOf(rentOf, func(r *metrics.Rent) bool { return r.WorstWeek != 0 })(func(r *metrics.Rent) float64 { return r.WorstWeek })
)

func ofPaid(part func(*metrics.Rent) float64) valueFunc {
	return partOf(rentOf, func(r *metrics.Rent) bool { return r.Hours != 0 })(func(r *metrics.Rent) float64 { return 100 * part(r) / r.Hours })
}

func policyTime(q float64) valueFunc {
	return func(r *Run) (float64, bool) {
		return metrics.Quantile(sortedMillis(r.PolicyTimes), q), len(r.PolicyTimes) > 0
	}
}

func share(part func(*metrics.Summary) float64) valueFunc {
	return func(r *Run) (float64, bool) {
		s := &r.Result.Summary
		return 100 * part(s) / max(s.AllocatedHours, 1e-300), s.AllocatedHours > 0
	}
}

// columns are the columns for every run; {above} stands for the threshold of unfairness.
var columns = []column{
	{"jobs", "JOBS", "Jobs", "", 0, narrow, ofTheJobs, none, known(func(s *metrics.Summary) float64 { return float64(s.Jobs) })},
	{"done", "DONE", "Done", "", 0, narrow, ofTheJobs, none, known(func(s *metrics.Summary) float64 { return float64(s.Done) })},
	{"failed", "FAILED", "Failed", "", 0, data, ofTheJobs, none, known(func(s *metrics.Summary) float64 { return float64(s.Failed) })},
	{"cancelled", "CANCELLED", "Cancelled", "", 0, data, ofTheJobs, none, known(func(s *metrics.Summary) float64 { return float64(s.Cancelled) })},
	{"active", "ACTIVE", "Active", "", 0, data, ofTheJobs, none, known(func(s *metrics.Summary) float64 { return float64(s.Active) })},
	{"rounds", "ROUNDS", "Rounds", "", 0, data, ofTheJobs, none, known(func(s *metrics.Summary) float64 { return float64(s.Rounds) })},
	{"jct_mean_h", "AVG JCT (h)", "Mean JCT", "h", 3, narrow, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.MeanJCT / 3600 })},
	{"jct_p50_h", "P50 JCT (h)", "p50 JCT", "h", 3, wide, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.P50JCT / 3600 })},
	{"jct_p75_h", "P75 JCT (h)", "p75 JCT", "h", 3, data, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.P75JCT / 3600 })},
	{"jct_p90_h", "P90 JCT (h)", "p90 JCT", "h", 2, wide, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.P90JCT / 3600 })},
	{"jct_p95_h", "P95 JCT (h)", "p95 JCT", "h", 2, wide, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.P95JCT / 3600 })},
	{"jct_p99_h", "P99 JCT (h)", "p99 JCT", "h", 2, narrow, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.P99JCT / 3600 })},
	{"queued_mean_h", "AVG QUEUED (h)", "Mean queued", "h", 3, wide, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.MeanQueued / 3600 })},
	{"queued_p50_h", "P50 QUEUED (h)", "p50 queued", "h", 3, data, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.P50Queued / 3600 })},
	{"queued_p75_h", "P75 QUEUED (h)", "p75 queued", "h", 3, data, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.P75Queued / 3600 })},
	{"queued_p95_h", "P95 QUEUED (h)", "p95 queued", "h", 2, data, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.P95Queued / 3600 })},
	{"queued_p99_h", "P99 QUEUED (h)", "p99 queued", "h", 2, data, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.P99Queued / 3600 })},
	{"makespan_h", "MAKESPAN (h)", "Makespan", "h", 2, wide, ofTheJobs, lower, known(func(s *metrics.Summary) float64 { return s.Makespan / 3600 })},
	{"gpu_hours_per_job", "GPU-H/JOB", "GPU-hours per job", "", 2, narrow, ofTheGPUs, lower, ofDone(func(s *metrics.Summary) float64 { return s.GPUHoursPerJob })},
	{"restarts_per_job", "RESTARTS", "Restarts per job", "", 2, narrow, ofTheJobs, lower, ofDone(func(s *metrics.Summary) float64 { return s.RestartsPerJob })},
	{"contention_mean", "CONTENTION", "Contention, mean", "jobs", 1, wide, ofTheJobs, lower, known(func(s *metrics.Summary) float64 { return s.MeanContention })},
	{"contention_max", "MAX CONTENTION", "Contention, max", "jobs", 0, wide, ofTheJobs, lower, known(func(s *metrics.Summary) float64 { return float64(s.MaxContention) })},
	{"rho_worst", "WORST RHO", "Worst rho", "", 2, wide, ofTheJobs, lower, ofRho(func(r *metrics.RhoSummary) float64 { return r.Worst })},
	{"unfair_pct", "RHO>{above} (%)", "Unfair jobs, rho > {above}", "%", 1, wide, ofTheJobs, lower, ofRho(func(r *metrics.RhoSummary) float64 { return 100 * r.Unfair })},
	{"unfair_above", "UNFAIR ABOVE", "Unfair above", "", 2, data, ofTheJobs, none, ofRho(func(r *metrics.RhoSummary) float64 { return r.UnfairAbove })},
	{"rho_mean", "AVG RHO", "Mean rho", "", 2, data, ofTheJobs, lower, ofRho(func(r *metrics.RhoSummary) float64 { return r.Mean })},
	{"policy_p50_ms", "", "Policy time, p50", "ms a round", 3, paged, ofTheGPUs, lower, policyTime(0.5)},
	{"policy_p99_ms", "", "Policy time, p99", "ms a round", 2, paged, ofTheGPUs, lower, policyTime(0.99)},
	{"utilisation_pct", "UTIL (%)", "Utilisation", "%", 1, narrow, ofTheGPUs, none, known(func(s *metrics.Summary) float64 { return 100 * s.Utilisation })},
	{"goodput_ratio_pct", "GOODPUT (%)", "Goodput ratio", "%", 1, wide, ofTheGPUs, higher, share(func(s *metrics.Summary) float64 { return s.GoodputRatio * s.AllocatedHours })},
	{"gpu_hours", "GPU-H", "GPU-hours", "", 1, wide, ofTheGPUs, lower, known(func(s *metrics.Summary) float64 { return s.AllocatedHours })},
	{"restart_pct", "RESTART (%)", "Lost to restarts", "%", 1, wide, ofTheGPUs, lower, share(func(s *metrics.Summary) float64 { return s.RestartHours })},
	{"profiling_pct", "PROFILING (%)", "Lost to profiling", "%", 1, wide, ofTheGPUs, lower, share(func(s *metrics.Summary) float64 { return s.ProfilingHours })},
	{"idle_pct", "IDLE (%)", "Idle in round", "%", 1, wide, ofTheGPUs, lower, share(func(s *metrics.Summary) float64 { return s.IdleHours })},
	{"energy_kwh", "ENERGY (kWh)", "Energy", "kWh", 1, wide, ofTheGPUs, lower, positive(func(s *metrics.Summary) float64 { return s.Energy })},
	{"gpus_mean", "GPUS", "GPUs available, mean", "", 1, wide, ofTheGPUs, none, known(func(s *metrics.Summary) float64 { return s.MeanGPUs })},
	{"spending_mean_per_h", "SPENDING (/h)", "Cost of all GPUs", "an hour", 2, data, ofTheGPUs, lower, known(func(s *metrics.Summary) float64 { return s.MeanSpending })},
	{"paid_gpu_hours", "PAID GPU-H", "GPU-hours rented", "", 1, wide, ofTheGPUs, lower, ofRent(func(r *metrics.Rent) float64 { return r.Hours })},
	{"paid_gpus_mean", "PAID GPUS", "GPUs rented, mean", "", 1, wide, ofTheGPUs, lower, ofRent(func(r *metrics.Rent) float64 { return r.MeanGPUs })},
	{"paid_gpus_max", "MAX PAID GPUS", "GPUs rented, max", "", 0, wide, ofTheGPUs, none, ofRent(func(r *metrics.Rent) float64 { return float64(r.MostGPUs) })},
	{"paid_starting_pct", "STARTING (%)", "Rented and starting", "%", 1, wide, ofTheGPUs, lower, ofPaid(func(r *metrics.Rent) float64 { return r.Starting })},
	{"paid_idle_pct", "UNUSED (%)", "Rented and unused", "%", 1, wide, ofTheGPUs, lower, ofPaid(func(r *metrics.Rent) float64 { return r.Idle })},
	{"leaving_gpu_hours", "LEAVING GPU-H", "GPU-hours leaving", "", 1, wide, ofTheGPUs, lower, ofRent(func(r *metrics.Rent) float64 { return r.Leaving })},
	{"spent", "SPENT", "Spent on rent", "", 2, wide, ofTheGPUs, lower, ofRent(func(r *metrics.Rent) float64 { return r.Money })},
	{"spent_leaving", "SPENT LEAVING", "Spent on leaving nodes", "", 2, data, ofTheGPUs, lower, ofRent(func(r *metrics.Rent) float64 { return r.LeavingMoney })},
	{"spent_worst_week_per_h", "WORST WEEK (/h)", "Spent in the worst week", "an hour", 2, wide, ofTheGPUs, lower, worstWeek},
	{"cost", "COST", "Cost", "", 2, wide, ofTheGPUs, lower, positive(func(s *metrics.Summary) float64 { return s.Cost })},
}

// columnsOf adds columns of loans and by GPU type. Failed runs have no values; Run.Means take precedence.
func columnsOf(all []Run) []column {
	cols := columnsOfEnded(ended(all))
	for i := range cols {
		value, key, mean := cols[i].value, cols[i].key, cols[i].shown != paged
		cols[i].value = func(r *Run) (float64, bool) {
			switch {
			case r.Result == nil:
				return 0, false
			case r.Means != nil && mean:
				v, known := r.Means[key]
				return v, known
			}
			return value(r)
		}
	}
	return cols
}

func columnsOfEnded(runs []Run) []column {
	all := slices.Clone(columns)
	above := strconv.FormatFloat(unfairAbove(runs), 'g', -1, 64)
	for i := range all {
		all[i].header = strings.ReplaceAll(all[i].header, "{above}", above)
		all[i].title = strings.ReplaceAll(all[i].title, "{above}", above)
	}
	if lending(runs) {
		all = withLoans(all)
	}
	for _, t := range gpuTypes(runs) {
		name := printable.Line(string(t))
		all = append(all, column{
			"utilisation_" + name + "_pct", "UTIL " + name + " (%)", "Utilisation, " + name, "%", 1, wide, ofTheGPUs, none,
			func(r *Run) (float64, bool) {
				for _, ts := range r.Result.Summary.Types {
					if ts.Type == t {
						return 100 * ts.Utilisation, true
					}
				}
				return 0, false
			},
		})
	}
	return all
}

func fairnessOf(runs []Run) *metrics.RhoSummary {
	for i := range runs {
		if rho := runs[i].Result.Summary.Rho; rho != nil {
			return rho
		}
	}
	return nil
}

func unfairAbove(runs []Run) float64 {
	if rho := fairnessOf(runs); rho != nil {
		return rho.UnfairAbove
	}
	return 1
}

func rhoText(runs []Run) string {
	if rho := fairnessOf(runs); rho != nil && rho.Static {
		return "rho = completion time / (time alone \u00d7 jobs of the trace per GPU, at least 1)"
	}
	return "rho = completion time / time alone on a fair share of the GPUs"
}

// Measures returns the measurements of run r by name, such as "jct_mean_h", or nil if r failed.
func Measures(r *Run) map[string]float64 {
	values := make(map[string]float64)
	for _, c := range columnsOf([]Run{*r}) {
		if v, known := c.value(r); known && c.shown != paged {
			values[c.key] = v
		}
	}
	return values
}

func allColumns() []column {
	return columnsOf([]Run{{Result: &metrics.Result{Summary: metrics.Summary{Loans: new(metrics.LoanSummary)}}}})
}

var trustColumns = []remark{
	{key: "trusted", value: ofTrust(func(t *metrics.Trust) string { return strconv.FormatBool(t.Trusted) })},
	{key: "own_policy_jct_error", value: ofTrust(func(t *metrics.Trust) string { return number(t.JCT) })},
	{key: "own_policy_wait_error", value: ofTrust(func(t *metrics.Trust) string { return number(t.Wait) })},
	{key: "own_policy_median_wait_error", value: ofWaits(func(w *metrics.WaitErrors) float64 { return w.Median })},
	{key: "own_policy_p90_wait_error", value: ofWaits(func(w *metrics.WaitErrors) float64 { return w.P90 })},
	{key: "own_policy_utilisation_error", value: ofTrust(func(t *metrics.Trust) string { return number(t.Utilisation) })},
	{key: "not_trusted_because", value: ofTrust(func(t *metrics.Trust) string { return strings.Join(t.Causes, "; ") }), words: true},
}

func ofTrust(f func(*metrics.Trust) string) func(*Run) string {
	return func(r *Run) string {
		if r.Trust == nil {
			return ""
		}
		return f(r.Trust)
	}
}

func ofWaits(f func(*metrics.WaitErrors) float64) func(*Run) string {
	return ofTrust(func(t *metrics.Trust) string {
		if t.Waits == nil {
			return ""
		}
		return number(f(t.Waits))
	})
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
