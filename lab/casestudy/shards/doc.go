// Package shards is the COpter thesis' case study of balancing an elastic database. Each round the loads of D shards
// change, and a balancer chooses the servers of each shard's replicas, out of N, and their fractions of the load.
// Load must be even to within ε, memory is a hard limit, and starting a replica costs its size. Source: thesis §5.1.1
// and §5.2.1.
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
// Deviation: (a) charges sⱼ and (c) sums Rᵢⱼ lⱼ, where the thesis prints sᵢ and Xᵢⱼ lⱼ, because its text does.
//
// The relaxation needs R alone. If (R, X) is feasible with 0 ≤ R ≤ X ≤ 1, then (R, R) is also feasible, at no more
// cost. It has half the columns and no row per pair.
//
// Methods: Heuristic moves hot shards greedily (E-Store), Exact solves the program, Relaxed its relaxation with
// Shim, Parts (POP-k) random parts.
package shards
