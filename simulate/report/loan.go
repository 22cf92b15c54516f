package report

import (
	"slices"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

func lending(runs []Run) bool {
	return slices.ContainsFunc(runs, func(r Run) bool { return r.Result.Summary.Loans != nil })
}

func loansOf(s *metrics.Summary) *metrics.LoanSummary { return s.Loans }

var (
	ofLoans     = partOf(loansOf, always)
	ofLent      = partOf(loansOf, func(l *metrics.LoanSummary) bool { return l.LentHours != 0 })
	ofReclaimed = partOf(loansOf, func(l *metrics.LoanSummary) bool { return l.Reclaimed != 0 })
	ofPriced    = partOf(loansOf, func(l *metrics.LoanSummary) bool { return l.Priced != 0 })
)

func preempted(r *Run) (float64, bool) {
	s := &r.Result.Summary
	return 100 * s.PreemptionRatio(), s.Jobs > 0
}

// loanColumns are of runs that can borrow. Source: Lyra Table 5.
var loanColumns = []column{
	{"preemption_pct", "PREEMPTION (%)", "Preemptions", "% of jobs", 2, narrow, ofTheJobs, lower, preempted},
	{"resizes", "RESIZES", "Resizes", "", 0, wide, ofTheJobs, none, known(func(s *metrics.Summary) float64 { return float64(s.Resizes) })},
	{"lost_gpu_hours", "LOST GPU-H", "GPU-hours of work lost", "", 1, wide, ofTheGPUs, lower, known(func(s *metrics.Summary) float64 { return s.LostHours })},
	{"training_usage_pct", "TRAINING (%)", "Usage, not on loan", "%", 1, narrow, ofTheGPUs, higher, ofLoans(func(l *metrics.LoanSummary) float64 { return 100 * l.Training })},
	{"loan_usage_pct", "ON LOAN (%)", "Usage, on loan", "%", 1, narrow, ofTheGPUs, higher, ofLent(func(l *metrics.LoanSummary) float64 { return 100 * l.OnLoan })},
	{"overall_usage_pct", "OVERALL (%)", "Usage, with the lender's", "%", 1, narrow, ofTheGPUs, higher, ofLoans(func(l *metrics.LoanSummary) float64 { return 100 * l.Overall })},
	{"lent_gpu_hours", "LENT GPU-H", "GPU-hours lent", "", 1, wide, ofTheGPUs, none, ofLoans(func(l *metrics.LoanSummary) float64 { return l.LentHours })},
	{"lent_nodes", "LENT NODES", "Nodes lent", "", 0, wide, ofTheGPUs, none, ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Nodes) })},
	{"loans", "LOANS", "Loans", "", 0, data, ofTheGPUs, none, ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Loans) })},
	{"reclaims", "RECLAIMS", "Reclaims", "", 0, wide, ofTheGPUs, none, ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Reclaims) })},
	{"reclaimed_nodes", "RECLAIMED", "Nodes reclaimed", "", 0, wide, ofTheGPUs, none, ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Reclaimed) })},
	{"flexible_pct", "FLEXIBLE (%)", "Reclaimed, nobody preempted", "%", 1, narrow, ofTheGPUs, higher, ofReclaimed(func(l *metrics.LoanSummary) float64 { return 100 * l.Flexible })},
	{"collateral_pct", "COLLATERAL (%)", "Collateral damage", "%", 1, narrow, ofTheGPUs, lower, ofReclaimed(func(l *metrics.LoanSummary) float64 { return 100 * l.Damage })},
	{"preempted_of_running_pct", "OF RUNNING (%)", "Preempted per reclaim", "% of running", 2, wide, ofTheJobs, lower, ofReclaimed(func(l *metrics.LoanSummary) float64 { return 100 * l.OfRunning })},
	{"preempted_of_borrowing_pct", "OF BORROWING (%)", "Preempted per reclaim", "% of jobs on loan", 2, data, ofTheJobs, lower, ofReclaimed(func(l *metrics.LoanSummary) float64 { return 100 * l.OfBorrowing })},
	{"taken_nodes", "TAKEN", "Nodes taken by their owner", "", 0, wide, ofTheGPUs, lower, ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Taken) })},
	{"lost_on_loan", "LOST", "Jobs lost with nodes on loan", "", 0, wide, ofTheJobs, lower, ofLoans(func(l *metrics.LoanSummary) float64 { return float64(l.Lost) })},
	{"short_gpu_hours", "SHORT GPU-H", "GPU-hours of unmet lender demand", "", 1, wide, ofTheGPUs, lower, ofLoans(func(l *metrics.LoanSummary) float64 { return l.ShortHours })},
	{"training_price_s", "TRAINING PRICE (s)", "Value of one more GPU, not on loan", "s saved", 0, wide, ofTheGPUs, none, ofPriced(func(l *metrics.LoanSummary) float64 { return l.TrainingPrice })},
	{"loan_price_s", "LOAN PRICE (s)", "Value of one more GPU, on loan", "s saved", 0, wide, ofTheGPUs, none, ofPriced(func(l *metrics.LoanSummary) float64 { return l.LoanPrice })},
	{"server_price_s", "SERVER PRICE (s)", "Value of one more node on loan", "s saved", 0, data, ofTheGPUs, none, ofPriced(func(l *metrics.LoanSummary) float64 { return l.ServerPrice })},
	{"return_cost_gpu_hours", "RETURN COST GPU-H", "GPU-hours lost per node reclaimed", "", 2, wide, ofTheGPUs, lower, ofReclaimed(func(l *metrics.LoanSummary) float64 { return l.ReturnCost })},
}

func withLoans(all []column) []column {
	for i := range all {
		if all[i].key == "queued_mean_h" {
			all[i].shown = narrow
		}
	}
	return append(all, loanColumns...)
}

func loans(runs []Run, l limits) *dataset {
	d := newDataset("loans", "@policy", "time_s", "lent_gpus", "busy_gpus", "wanted_gpus", "owner_gpus", "overall_usage", "training_price_s", "loan_price_s")
	for i := range runs {
		s := &runs[i].Result.Series
		if s.Loans == nil {
			continue
		}
		means(len(s.Time), l.points, func(first int, mean func([]float64) float64) {
			lent, load := mean(s.Loans.Lent), mean(s.Loans.Load)
			there := mean(s.Loans.Pool) - lent
			used := min(load, there)
			for t := range s.Busy {
				used, there = used+mean(s.Busy[t]), there+mean(s.Capacity[t])
			}
			price := func(of []float64) float64 {
				if of == nil {
					return 0
				}
				return mean(of)
			}
			d.add([]string{runs[i].Name}, s.Time[first], lent, mean(s.Loans.Busy), mean(s.Loans.Wanted), load, used/max(there, 1), price(s.Loans.TrainingPrice), price(s.Loans.LoanPrice))
		})
	}
	return d
}
