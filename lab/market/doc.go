// Package market computes the equilibrium of Shockwave's volatile Fisher market: GPU time over many rounds with
// the greatest Nash social welfare over time, and prices that prove it. Source: Shockwave §4, §C–F.
//
// Buyers are jobs with budgets. Goods are GPU time by type and round. Utilities may change over rounds:
//
//	maximise    Σᵢ Bᵢ log Uᵢ,   Uᵢ = Σₜ uᵢₜ(xᵢₜ)                     (Eq. 1, 3)
//	            uᵢₜ = Σⱼ uᵢⱼₜ xᵢⱼₜ (linear) or minⱼ xᵢⱼₜ/aᵢⱼₜ (Leontief)
//	subject to  Σᵢ xᵢⱼₜ ≤ cⱼₜ for every type j and round t, x ≥ 0
//
// The duals pⱼₜ of the supplies are equilibrium prices (Theorem C.1). Every buyer spends its budget where utility
// is cheapest, and unsold goods cost nothing. So the allocation is Pareto-optimal over time, and ρ ≤ 1.
//
// A buyer earns utility by columns: a good, or a bundle of one round. The program's optimum is the weighted centre
// of a polytope, which an interior point method finds as fast as a linear program's.
//
// §F adds chance: allocations change the probabilities with which jobs move between states. A Process maximises Σᵢ
// Bᵢ log E[Uᵢ]. It is the same program: goods are probabilities of a joint state in a round. All joint states are
// enumerated.
//
// Dictionary: i buyer, t round, j type; Bᵢ Budget; uᵢⱼₜ, aᵢⱼₜ Rates; cⱼₜ Supply; xᵢⱼₜ X; pⱼₜ Prices; Uᵢ Utilities;
// NSW_OT exp(Welfare); ρᵢ Rho. βᵢ, the price of buyer i's utility, is z of its row. §F: sᵢₜ Chain's states, b
// Chain.Start, P Chain.Next, U(s, x, s') Chain.Gain, X Allocations, π Policy.Choice, T Rounds + 1.
//
// Notes on the paper's proofs. §D.2: ηᵢⱼₜ ≥ 0 gives Uᵢ ≥ Bᵢ/Σⱼ pⱼₜ aᵢⱼₜ for every round, with equality where i
// buys. §E (a) has the exponent Bᵢ/B on one factor of ρᵢ only, so it holds for equal budgets. §E (b) assumes that
// some job has at least C/N of everything, which need not be. A simpler argument: C/N costs a job exactly its
// budget, and what it buys is at least as good.
package market
