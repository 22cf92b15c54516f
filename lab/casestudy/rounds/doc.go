// Package rounds is the case study of the scheduler's own program on large clusters. A Generator makes random
// rounds of Sia's program; every engine of opt solves them.
//
//	maximise    Σᵢ Σⱼ xᵢⱼ (λ − (rᵢⱼ gᵢⱼ)^p)
//	subject to  Σᵢ Σⱼ nⱼₖ xᵢⱼ ≤ Nₖ   for every GPU type k
//	            Σⱼ xᵢⱼ ≤ 1           for every job i
//	            xᵢⱼ ∈ {0, 1}
//
// Source: thesis §4.4.1 (a)–(d); p and λ as in Sia §3.4.
//
// Dictionary: job i, configuration j, goodput g relative to the row's least (Sia §3.3.3), restart factor r (Eq.
// 3.3; 1 for the held configuration), fairness power p = −0.5, penalty λ = 1.1 without GPUs, amount n, capacity N.
//
// All engines solve the same problems if jobs hold the same.
//
// Deviation: jobs and goodputs are made up, because the thesis' large traces and profiles are not public. The
// shape is the same: seven types, {1, 2, 4, 8} GPUs in a node and then whole nodes, mostly a peak, few changes a
// round.
package rounds
