// Package synergy divides CPUs and host memory by need: jobs whose speed depends on them get more than their
// GPUs' share, from jobs that do not use theirs, and no job is slower than with its share. It follows
// "Synergy: Looking Beyond GPUs for DNN Scheduling on Multi-Tenant Clusters" (OSDI 2022).
//
// In a round (§3.2), a queue first decides which jobs run, by GPUs alone, with backfilling and preemption.
// Then a mechanism decides on their CPUs and memory:
//
//	Proportional   every GPU its share, the baseline (§2)
//	Greedy         a job's full demand on one node, or it waits (§3.3)   greedy.go
//	Tune           by need, and no job below the speed of its share:
//	  AllCells       by the program below; a placer packs                program.go
//	  DemandOnly     full demand or share, packed as published (§4.2)    row.go
//	Opt            as Tune, proven best (§4.1.1), and placed by a second
//	               program that splits few jobs (§4.1.2)                 opt.go
//
// The program, for all jobs on GPUs of a type (§4.1.1):
//
//	max  Σⱼ Σ_[c,m] Wⱼ[c,m]·y_{c,m,j}                         (1)
//	     CPUs and memory within the type's nodes              (2) (3)
//	     one cell for each job                                (4)
//	     none slower than its GPU-proportional share          (5)
//
//	paper            code
//	Wⱼ[c,m]          cell.worth: relative to the speed with the share  row.go
//	y_{c,m,j}        tenant.level
//	c*ⱼ, m*ⱼ         Decision.Allocation.CPUs, Memory
//	C_g, M_g         cluster.TypeInfo.Share, of one GPU
//	demand vector    tenant.demand
//	x_{i,j}          spreading.x                                       opt.go
//	J_t              tenants
//
// Deviation: only Pareto-optimal cells are considered, at all their rates rather than on a grid of memory,
// because every optimum is among them. They form a chain, so (4) and (5) hold by construction: see program.
//
// Deviation: jobs weigh by Spec.Weight, because users set it; all unset is (1).
//
// Deviation: resources are counted by GPU type, and types without known CPUs are left alone, because clusters
// are heterogeneous (§6).
//
// Deviation: a non-preemptive job gets its share, because it keeps what it starts with, and later jobs must
// find their shares.
//
// Deviation: Tune's cells go up to a node for each GPU, and the placer decides whether that is worth a split,
// because the paper found that some jobs would gain and left it to future work (§6). So the bound holds for
// every placement.
//
// Stats.Bound of Tune and Opt is the program's: no plan is worth more (Theorem 4.1). Stats.Objective is the
// program's value, or the packing's if the plan names nodes (DemandOnly, Opt).
//
// On 16 servers Opt loses 2 to 5 % of the bound on average, Tune with placer pack 0 to 2 %. Opt's use is the bound,
// as in the paper.
//
// Rules PublicCode reproduce the authors' simulator in replays: package lab/rules.
package synergy
