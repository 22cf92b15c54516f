// Package sia is the policy Sia: in each round it chooses the GPU type and number for all jobs together, so that
// their goodput is highest. It follows chapter 3 of the thesis "Sia: Heterogeneity-aware goodput-optimized ML cluster
// scheduling"; its section and equation numbers are used below.
//
// The problem (§3.3.4): each job i picks at most one configuration j. A pick is worth the job's normalised
// goodput Gᵢⱼ, discounted by rᵢ if the job must restart for it. The picks must fit the GPUs of each type:
//
//	max  Σᵢ ( Σⱼ Aᵢⱼ·(rᵢ·Gᵢⱼ)^p − λ·(1 − |Aᵢ|) )      (3.4; p < 0: min, + λ)
//
// Package goodput builds and solves this program for several policies. This package supplies Sia's values: λ
// and rᵢ.
//
//	paper        code               where
//	C            configurations     goodput: resources.go (a job's: rows.go)
//	Gᵢⱼ          goodput matrix     goodput: cells.go (Row; normalised by its unit)
//	Nᵢ^min       job.Spec.Min
//	rᵢ           restartFactor      sia.go (Eq. 3.3); goodput.Worth.Factor
//	Sᵢ, Nᵢ, Tᵢ   Spec.RestartOverhead, Status.Restarts, Status.Age
//	p, λ         Options.P, Options.Lambda; goodput.Worth.Base
//	A            mmkp.Solution      goodput: program.go
//
// The authors' public code differs from the thesis. The default is the thesis; Options.PublicCode selects the
// code's rules:
//
//	Rules.RoundCosts       costs are rounded to two decimals and clipped at 3000
//	Rules.ValidMinimum     rows are normalised over the currently allowed configurations
//	Rules.HistoricGrowth   a job may double its largest GPU count so far, not its present one
//	FreeYoung              no restart factor while a job is younger than S
//
// More differences are options elsewhere: first allocation and borrowed goodput (estimate.PublicCode),
// integer epochs, re-tuning and batch ranges (sim.Public), free node moves (scheduler.Options.FreeMoves).
//
// Deviation: the penalty for giving a job nothing does not grow while the job waits (time sharing, §3.5.6),
// because here that made the mean completion time 1.28 times as long (docs/experiments/timeshare.md).
package sia
