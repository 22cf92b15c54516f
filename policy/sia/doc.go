// Package sia is the Sia policy: each round it chooses, for all jobs together,
// GPU type and count by goodput. It follows chapter 3 of the thesis
// "Sia: Heterogeneity-aware goodput-optimized ML cluster scheduling".
//
// Problem (§3.3.4). Each job i picks at most one configuration j, at the value
// of its normalised goodput; what the picks use of each GPU type must fit:
//
//	max  Σᵢ ( Σⱼ Aᵢⱼ·(rᵢ·Gᵢⱼ)^p − λ·(1 − |Aᵢ|) )      (3.4; p < 0: min, + λ)
//
// Dictionary, from the paper's symbols to names here:
//
//	C            configurations     configurations.go
//	Gᵢⱼ          goodput matrix     goodput.go (row.goodput; normalised in row.fill)
//	Nᵢ^min       job.Spec.Min
//	rᵢ           RestartFactor      restart.go (Eq. 3.3)
//	Sᵢ, Nᵢ, Tᵢ   Spec.RestartOverhead, Status.Restarts, Status.Age
//	p, λ         Options.P, Options.Lambda
//	A            mmkp.Solution      program.go
//
// Where nodes say what CPUs and memory they have, these couple the jobs as GPUs do,
// and a choice is a configuration and a cell of the job's sensitivity matrix
// (Synergy §3.1, §4.1): what it gets per GPU, at the goodput it is then fed for
// (cells.go). GPUs, their type, CPUs and memory so are chosen together, in one
// program. A cell is no slower than the GPU-proportional share; a job that is not
// sensitive has its share. Other CPUs on the same GPUs are no restart. Nodes are
// the placer's: what is granted fits the nodes of a type together, and it settles
// what fits each of them. Elsewhere a plan names no CPUs.
//
// A round is Policy.Plan: rows, values, program, solution, decisions. Between
// rounds an engine (opt/engine) keeps the program, and a row files again only
// where something it depends on is another (thesis §4.4.1).
//
// Where the public code differs from the thesis and it moves results, Rules has
// a switch; its zero value is the thesis.
//
//	Rules.RoundCosts       costs are rounded to two decimals and clipped at 3000
//	Rules.ValidMinimum     rows are normalised over the currently allowed configurations
//	Rules.HistoricGrowth   a job may double the most it ever ran on, not what it holds now
//	Rules.FreeYoung        no restart factor while a job is younger than S
//
// Other differences lie where they act: type-blind first allocation and borrowed
// goodput (estimate.PublicCode), integer epochs, re-tuning on epochs and wide
// batch ranges (sim.Public), free node moves (scheduler.Options.FreeMoves).
//
// Deviation: a job that is starting or restoring its checkpoint keeps what it
// has (as in the public code), because an interrupted restore is pure loss.
//
// Deviation: the penalty for giving a job nothing does not grow while the job
// waits (time sharing, §3.5.6), because here that made the mean completion time
// 1.28 times as long (docs/experiments/timeshare.md).
//
// Deviation: CPUs and memory are chosen again for running jobs in every round,
// where Synergy's program has the jobs' GPUs given (§4.1.1), because a sensitive
// job may do better with fewer GPUs and more of the rest.
package sia
