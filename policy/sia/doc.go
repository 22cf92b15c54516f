// Package sia is the Sia policy: each round it chooses, for all jobs together,
// GPU type and count by goodput. It follows chapter 3 of the thesis
// "Sia: Heterogeneity-aware goodput-optimized ML cluster scheduling".
//
// Problem (§3.3.4). Each job i picks at most one configuration j, at the value
// of its normalised goodput; what the picks use of each GPU type must fit:
//
//	max  Σᵢ ( Σⱼ Aᵢⱼ·(rᵢ·Gᵢⱼ)^p − λ·(1 − |Aᵢ|) )      (3.4; p < 0: min, + λ)
//
// Package goodput solves it; this package says what a choice is worth. Dictionary,
// from the paper's symbols to names here and there:
//
//	C            configurations     goodput: resources.go (a job's: rows.go)
//	Gᵢⱼ          goodput matrix     goodput: cells.go (Row; normalised by its unit)
//	Nᵢ^min       job.Spec.Min
//	rᵢ           RestartFactor      restart.go (Eq. 3.3); goodput.Worth.Factor
//	Sᵢ, Nᵢ, Tᵢ   Spec.RestartOverhead, Status.Restarts, Status.Age
//	p, λ         Options.P, Options.Lambda; goodput.Worth.Base
//	A            mmkp.Solution      goodput: program.go
//
// Where the public code differs from the thesis and it moves results, Rules has
// a switch, and Options FreeYoung; without them it is the thesis.
//
//	Rules.RoundCosts       costs are rounded to two decimals and clipped at 3000
//	Rules.ValidMinimum     rows are normalised over the currently allowed configurations
//	Rules.HistoricGrowth   a job may double the most it ever ran on, not what it holds now
//	FreeYoung              no restart factor while a job is younger than S
//
// Other differences lie where they act: type-blind first allocation and borrowed
// goodput (estimate.PublicCode), integer epochs, re-tuning on epochs and wide
// batch ranges (sim.Public), free node moves (scheduler.Options.FreeMoves).
//
// Deviation: the penalty for giving a job nothing does not grow while the job
// waits (time sharing, §3.5.6), because here that made the mean completion time
// 1.28 times as long (docs/experiments/timeshare.md).
package sia
