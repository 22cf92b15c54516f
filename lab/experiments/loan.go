package experiments

import (
	"slices"
	"strconv"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

// timeMetrics are in seconds, over the jobs of all runs. Sources: Lyra Tables 5, 7 and 8.
var timeMetrics = slices.Concat(
	timesOf("jct", "JCTs", completionsOf),
	timesOf("queued", "times without GPUs", queuedOf),
	timesOf("loan_jct", "JCTs, of jobs that ever held GPUs on loan", borrowed(completionsOf)),
	timesOf("loan_queued", "times without GPUs, of jobs that ever held GPUs on loan", borrowed(queuedOf)),
)

var loanMetrics = []metric{
	{"preemption_pct", "preemptions over submissions, percent", mean(func(s *metrics.Summary) float64 { return 100 * s.PreemptionRatio() })},
	{"preemptions", "how often a job lost all its GPUs: preempted, lost with a node, or moved off a returned node on loan", mean(func(s *metrics.Summary) float64 { return float64(s.Preemptions) })},
	{"resizes", "how often workers joined or left a job without a restart", mean(func(s *metrics.Summary) float64 { return float64(s.Resizes) })},
	{"lost_gpu_hours", "useful GPU-hours that jobs without checkpoints had to repeat", mean(func(s *metrics.Summary) float64 { return s.LostHours })},
	{"training_usage_pct", "held over available GPU time of nodes not on loan, percent", mean(func(s *metrics.Summary) float64 { return 100 * trainingUsage(s) })},
	{"loan_usage_pct", "the same of nodes on loan", ofLoans(func(l *metrics.LoanSummary) float64 { return 100 * l.OnLoan })},
	{"overall_usage_pct", "GPU time held or used by the lender, over all GPU time of both clusters, percent", ofLoans(func(l *metrics.LoanSummary) float64 { return 100 * l.Overall })},
	{"lent_gpu_hours", "GPU-hours of nodes on loan", ofLoans(func(l *metrics.LoanSummary) float64 { return l.LentHours })},
	{"short_gpu_hours", "GPU-hours of the lender's demand that found its nodes lent", ofLoans(func(l *metrics.LoanSummary) float64 { return l.ShortHours })},
	{"loans", "how often more nodes were lent", ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Loans) })},
	{"lent_nodes", "number of nodes lent then", ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Nodes) })},
	{"reclaims", "how often more nodes were wanted back", ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Reclaims) })},
	{"reclaimed_nodes", "wanted nodes that were returned", ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Reclaimed) })},
	{"taken_nodes", "due nodes that the lender took itself", ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Taken) })},
	{"lost_on_loan", "how often a job with GPUs on loan was lost", ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Lost) })},
	{"flexible_pct", "reclaimed nodes without a preempted job, percent", ofLoans(func(l *metrics.LoanSummary) float64 { return 100 * l.Flexible })},
	{"collateral_pct", "GPUs that preempted jobs gave up on other nodes, over the GPUs of reclaimed nodes, percent", ofLoans(func(l *metrics.LoanSummary) float64 { return 100 * l.Damage })},
	{"preempted_of_running_pct", "jobs preempted by reclaims over the jobs running before, percent", ofLoans(func(l *metrics.LoanSummary) float64 { return 100 * l.OfRunning })},
	{"preempted_of_borrowing_pct", "the same over the jobs with GPUs on loan", ofLoans(func(l *metrics.LoanSummary) float64 { return 100 * l.OfBorrowing })},
	{"training_price_s", "running time that one more GPU not on loan would save, mean over rounds with nodes on loan, seconds; 0 for policies without prices", ofLoans(func(l *metrics.LoanSummary) float64 { return l.TrainingPrice })},
	{"loan_price_s", "the same for one more GPU on loan", ofLoans(func(l *metrics.LoanSummary) float64 { return l.LoanPrice })},
	{"server_price_s", "the same for one more node on loan", ofLoans(func(l *metrics.LoanSummary) float64 { return l.ServerPrice })},
	{"return_cost_gpu_hours", "useful GPU-hours of jobs without checkpoints that reclaims preempted, per reclaimed node", ofLoans(func(l *metrics.LoanSummary) float64 { return l.ReturnCost })},
}

func timesOf(name, what string, of func(*measured) []float64) []metric {
	all := []metric{{name + "_mean_s", "mean of all runs' " + what + ", together, seconds", func(runs []measured) float64 {
		hours, sum := pool(runs, of), 0.0
		for _, h := range hours {
			sum += h
		}
		return 3600 * sum / float64(max(1, len(hours)))
	}}}
	for _, percent := range []int{50, 75, 95, 99} {
		p, q := strconv.Itoa(percent), float64(percent)/100
		all = append(all, metric{name + "_p" + p + "_s", "the same, percentile " + p, func(runs []measured) float64 {
			hours := pool(runs, of)
			slices.Sort(hours)
			return 3600 * metrics.Quantile(hours, q)
		}})
	}
	return all
}

func completionsOf(m *measured) []float64 { return m.JCTs }

func queuedOf(m *measured) []float64 { return m.Queued }

func borrowed(of func(*measured) []float64) func(*measured) []float64 {
	return func(m *measured) []float64 {
		var kept []float64
		for i, v := range of(m) {
			if m.OnLoan[i] {
				kept = append(kept, v)
			}
		}
		return kept
	}
}

func ofLoans(of func(*metrics.LoanSummary) float64) func([]measured) float64 {
	return mean(func(s *metrics.Summary) float64 {
		if s.Loans == nil {
			return 0
		}
		return of(s.Loans)
	})
}

func trainingUsage(s *metrics.Summary) float64 {
	if s.Loans == nil {
		return s.Utilisation
	}
	return s.Loans.Training
}
