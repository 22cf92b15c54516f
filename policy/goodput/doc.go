// Package goodput chooses GPUs for all jobs of a cluster together, by goodput. Packages sia and oxgang share it and
// differ in the worth of a choice (Worth).
//
// Problem. Each job i picks at most one configuration j with one cell c of CPUs and memory, at the value of its
// normalised goodput. The use of each coupling resource must fit:
//
//	max  Σᵢ wᵢ · ( Bᵢ − (mᵢⱼ·Gᵢⱼc/uᵢ)^p )      over picks, for p < 0
//
// w is the job's weight, B its base worth of running, m the factor of a move, G the goodput, and u the unit of the
// row: its least goodput. Resources are GPUs, and CPUs and memory if nodes count them, of each GPU type. Source: Sia
// §3.3.4, Eq. 3.4, with Synergy's cells (§3.1, §4.1).
//
// CPUs and memory. If nodes count them, they couple the jobs as GPUs do, and a job's sensitivity matrix gives the
// goodput of each cell. No cell is slower than the GPU-proportional share; an insensitive job has its share. A change
// of CPUs on the same GPUs is no restart. A plan fits the nodes of a type together, and the placer fits it to each
// node.
//
// Cost. A model is evaluated once for each column, at some fifteen batch sizes, until the estimates of the job
// change. An engine (opt/engine) keeps the program between rounds, and an item is written again only if its inputs
// change. Weights, B and factors of moves change in every round: while all choices but the kept one share a factor,
// three numbers tell the engine (thesis §4.4.1).
//
// Invariant: the choices of pinned jobs fit together, because pin.go subtracts each from the free resources before it
// grants the next. All others may get nothing. So the program always has a solution, and its picks fit the GPUs, CPUs
// and memory of each type.
//
// Why prices explain a plan: in the relaxed program jobs may take parts of choices, and its multipliers are the
// prices of the resources. There a job takes the choice with the highest worth after paying for its resources. The
// plan has whole choices, so a few jobs differ; their reason is then whole nodes or free GPUs.
//
// Deviation: a job that is starting or restoring its checkpoint keeps what it has (as in Sia's public code), because
// an interrupted restore is pure loss.
//
// Deviation: CPUs and memory are chosen again for running jobs in every round, while Synergy's program takes the GPUs
// of jobs as given (§4.1.1), because a sensitive job may do better with fewer GPUs and more CPUs and memory.
package goodput
