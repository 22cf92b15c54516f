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
//	C            configurations     resources.go (Policy.columns; a job's: row.columns)
//	Gᵢⱼ          goodput matrix     goodput.go (row.cells; normalised by row.unit)
//	Nᵢ^min       job.Spec.Min
//	rᵢ           RestartFactor      restart.go (Eq. 3.3)
//	Sᵢ, Nᵢ, Tᵢ   Spec.RestartOverhead, Status.Restarts, Status.Age
//	p, λ         Options.P, Options.Lambda
//	A            mmkp.Solution      program.go
//
// Where nodes say what CPUs and memory they have, these couple the jobs as GPUs do,
// and a choice is a configuration and a cell of the job's sensitivity matrix
// (Synergy §3.1, §4.1): what it gets per GPU, at the goodput it is then fed for
// (goodput.go). GPUs, their type, CPUs and memory so are chosen together, in one
// program. A cell is no slower than the GPU-proportional share; a job that is not
// sensitive has its share. Other CPUs on the same GPUs are no restart. Nodes are
// the placer's: what is granted fits the nodes of a type together, and it settles
// what fits each of them. Elsewhere a plan names no CPUs.
//
// A round is Policy.Plan, and a snapshot passes its stages in this order:
//
//	resources.go  the cluster becomes coupling resources and columns, once
//	rows.go       each job gets a row: the columns it may ever have, and those
//	              that growth allows in this round
//	goodput.go    each allowed column gets its cells: CPUs, memory, goodput
//	pin.go        jobs that keep what they have, or get what they reserved
//	program.go    each row becomes an item of the program, each cell a choice
//	decide.go     the solution becomes allocations
//	reason.go     and each allocation gets the reason that its prices give
//
// What costs: a model is asked for the goodput of a column once, by some fifteen
// batch sizes, and not again until the belief about the job changes; a job's
// growth only adds columns. Between rounds an engine (opt/engine) keeps the
// program, and an item is written again only where something it depends on is
// another: who holds what, the size limits, a pin. Restart factors move in every
// round; as all choices but the kept one share a job's factor, two numbers tell
// the engine (thesis §4.4.1).
//
// What always holds: the choices of pinned jobs fit together, because pin.go
// subtracts each from what is free before it grants the next. All others may be
// given nothing. So the program has a solution in every round, and what it picks
// fits the GPUs, CPUs and memory of each type.
//
// Why prices explain a plan: the engine solves the relaxed program, in which jobs
// may take parts of choices, and its multipliers are the prices of GPUs, CPUs and
// memory. There a job takes the choice that is worth most after it has paid for
// what it uses. The plan has whole choices, so a few jobs differ from that;
// reason.go names for each the one that the prices let it have, and says where
// only whole nodes or free GPUs stand against it.
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
