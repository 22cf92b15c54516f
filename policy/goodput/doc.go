// Package goodput chooses GPUs for all jobs of a cluster together, by goodput:
// the program that Sia states and that package sia and package oxgang share. They
// differ in what a choice is worth (Worth).
//
// Problem. Each job i picks at most one configuration j with one cell c of CPUs
// and memory, at the value of its normalised goodput; what the picks use of each
// coupling resource must fit:
//
//	max  Σᵢ wᵢ · ( Bᵢ − (mᵢⱼ·Gᵢⱼc/uᵢ)^p )      over picks, for p < 0
//
// w is the job's weight, B what it is worth that it runs at all, m what a move
// leaves of the goodput G, and u the unit of the row: its least goodput. Resources
// are GPUs, and where nodes count them CPUs and memory, of each GPU type.
// Source: Sia §3.3.4, Eq. 3.4, with Synergy's cells (§3.1, §4.1).
//
// A round is Program.Plan, and a snapshot passes its stages in this order:
//
//	resources.go  the cluster becomes coupling resources and columns, once
//	rows.go       each job gets a row: the columns it may ever have, and those
//	              that growth allows in this round
//	cells.go      each allowed column gets its cells: CPUs, memory, goodput
//	pin.go        jobs that keep what they have, or get what they reserved
//	program.go    each row becomes an item of the program, each cell a choice
//	decide.go     the solution becomes allocations
//	reason.go     and each allocation gets the reason that its prices give
//
// CPUs and memory. Where nodes say what they have of both, they couple the jobs as
// GPUs do, and a choice is a configuration and a cell of the job's sensitivity
// matrix: what it gets per GPU, at the goodput it is then fed for. A cell is no
// slower than the GPU-proportional share; a job that is not sensitive has its
// share. Other CPUs on the same GPUs are no restart. Nodes are the placer's: what
// is granted fits the nodes of a type together, and it settles what fits each of
// them. Elsewhere a plan names no CPUs.
//
// What costs: a model is asked for the goodput of a column once, by some fifteen
// batch sizes, and not again until the belief about the job changes; a job's
// growth only adds columns. Between rounds an engine (opt/engine) keeps the
// program, and an item is written again only where something it depends on is
// another: who holds what, the size limits, a pin. Weights, B and the factors of
// moves change in every round; as long as all choices but the kept one share a
// job's factor, three numbers tell the engine (thesis §4.4.1).
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
// reason.go names for each what the prices let it have, and says where only whole
// nodes or free GPUs stand against it.
//
// Deviation: a job that is starting or restoring its checkpoint keeps what it
// has (as in Sia's public code), because an interrupted restore is pure loss.
//
// Deviation: CPUs and memory are chosen again for running jobs in every round,
// where Synergy's program has the jobs' GPUs given (§4.1.1), because a sensitive
// job may do better with fewer GPUs and more of the rest.
package goodput
