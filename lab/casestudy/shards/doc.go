// Package shards is the case study of balancing an elastic database. Every round the loads of D shards change, and a
// balancer chooses the servers of each shard's replicas, out of N, and the fraction of the load that each serves. Load
// must be even to within ε, memory is a hard limit, and starting a replica costs its size. Source: thesis §5.1.1 and
// §5.2.1.
//
// The program, with the papers' symbols and their names here:
//
//	minimise    Σᵢ Σⱼ (1 − Tᵢⱼ) sⱼ Xᵢⱼ                   start few replicas
//	subject to  Σᵢ Rᵢⱼ = 1                        ∀ j    every shard is served
//	            (1−ε) 𝓛 ≤ Σⱼ Rᵢⱼ lⱼ ≤ (1+ε) 𝓛     ∀ i    load is even
//	            Σⱼ Xᵢⱼ sⱼ ≤ mᵢ                    ∀ i    memory suffices
//	            0 ≤ Rᵢⱼ ≤ Xᵢⱼ,  Xᵢⱼ ∈ {0, 1}
//
//	l  Instance.Loads     s  Instance.Sizes    m  Instance.Memory
//	ε  Instance.Epsilon   𝓛  Instance.Mean     T  Instance.Now
//	R  Assignment (sparse); X is where it is more than 0
//
// Deviation: (a) charges sⱼ and (c) sums Rᵢⱼ lⱼ, where the thesis prints sᵢ and Xᵢⱼ lⱼ, because its text does (loads
// are what is routed, costs are of shards).
//
// The relaxation needs R alone. If (R, X) is feasible with 0 ≤ R ≤ X ≤ 1, then (R, R) is feasible too: it uses no more memory
// and costs no more, as sizes and (1 − T) s are not negative. Conversely, every R that meets the rows in place of X
// gives such a pair. So both programs have the same optimum. The small one has half the columns and no row per pair:
// 131,072 columns and 1,280 rows instead of 262,144 and 132,352 for 1,024 shards on 128 servers.
//
// Methods: Heuristic moves hot shards greedily (E-Store), Exact solves the program itself, Relaxed solves the
// relaxation and applies Shim, Parts (POP-k) splits servers and shards at random and solves each part by another
// method.
package shards
