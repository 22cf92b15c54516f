// Package rounds is the case study of the scheduler's own program at the scale of large clusters. A Generator makes
// random rounds of Sia's integer program from a seed; every engine of opt solves them in sequence.
//
//	maximise    Σᵢ Σⱼ xᵢⱼ (λ − (rᵢⱼ gᵢⱼ)^p)
//	subject to  Σᵢ Σⱼ nⱼₖ xᵢⱼ ≤ Nₖ   for every GPU type k
//	            Σⱼ xᵢⱼ ≤ 1           for every job i
//	            xᵢⱼ ∈ {0, 1}
//
// Source: thesis §4.4.1 (a)–(d); p and λ as in Sia §3.4.
//
// Dictionary: job i, configuration j (a GPU type and a number of GPUs), goodput g normalised by the row's least (Sia
// §3.3.3), restart factor r (Eq. 3.3; 1 for the configuration that the job holds), fairness power p = −0.5, penalty λ
// = 1.1 of a job without GPUs, amount n, capacity N.
//
// Rounds depend only on the Spec and on what jobs hold, so all engines solve the same problems.
//
// Deviation: jobs and goodputs are made up, because the thesis' trace and profiles at 10,000 GPUs and more are not
// public. The shape is the same: seven types, {1, 2, 4, 8} GPUs in a node and then whole nodes, most goodputs with a
// peak, and few changes a round.
package rounds
