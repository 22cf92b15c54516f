// Package market finds the equilibrium of Shockwave's volatile Fisher market: the
// allocation of GPU time over many rounds that has the greatest Nash social
// welfare over time, and prices that prove it. Source: Shockwave §4, §C–F.
//
// Buyers are jobs with budgets. Goods are amounts of GPU time of a type in a
// round; what is bought in a round is used there. Utilities may change from round
// to round, as they do when a job's batch size grows:
//
//	maximise    Σᵢ Bᵢ log Uᵢ,   Uᵢ = Σₜ uᵢₜ(xᵢₜ)                     (Eq. 1, 3)
//	            uᵢₜ = Σⱼ uᵢⱼₜ xᵢⱼₜ (linear) or minⱼ xᵢⱼₜ/aᵢⱼₜ (Leontief)
//	subject to  Σᵢ xᵢⱼₜ ≤ cⱼₜ for every type j and round t, x ≥ 0
//
// The duals pⱼₜ of the supplies are equilibrium prices (Theorem C.1): every buyer
// spends its budget, only where a unit of utility is cheapest, and what is not sold
// out costs nothing. So nobody can have more without another having less, over
// time, and a buyer has at least what its part of the budgets gives it of
// everything: ρ ≤ 1.
//
// In both utilities a buyer has ways to earn, each at a fixed cost: a good, or a
// round's bundle. With a column per way and a row per buyer and good this is one
// program, whose optimum is the weighted centre of a polytope; an interior point
// method goes there as fast as to that of a linear program. The bound is computed
// from the prices alone.
//
// §F adds chance. Jobs are in states, allocations may change with which probability
// they go where, and a policy says what to do in every state. A Process is solved
// for the greatest Σᵢ Bᵢ log E[Uᵢ]: the same program, in which the goods are
// probabilities of being in a state in a round, and an action earns for several
// jobs at once. It enumerates the joint states.
//
//	market.go    market, buyers, the solution; utility, welfare, ρ
//	economy.go   a market's columns; its prices and bound
//	process.go   chains, the policy
//	lattice.go   a process' joint states and columns; its bound
//	program.go   the program and its path
//	newton.go    Newton's steps; skyline.go factors their matrix
//	check.go, process_check.go   what is refused
//
// Dictionary: i buyer, t round, j type; Bᵢ Budget; uᵢⱼₜ, aᵢⱼₜ Rates; cⱼₜ Supply; xᵢⱼₜ
// X; pⱼₜ Prices; Uᵢ Utilities; NSW_OT exp(Welfare); ρᵢ Rho. βᵢ, the price of buyer
// i's utility, is z of its row. §F: sᵢₜ Chain's states, b Chain.Start, P Chain.Next,
// U(s, x, s') Chain.Gain, X Allocations, π Policy.Choice, T Rounds + 1.
//
// Of the paper's proofs: in §D.2 ηᵢⱼₜ ≥ 0 gives Uᵢ ≥ Bᵢ/Σⱼ pⱼₜ aᵢⱼₜ for every round,
// with equality where i buys. §E (a) has the exponent Bᵢ/B on one factor of ρᵢ only,
// so it is a statement about equal budgets. §E (b) argues that some job has at least
// C/N of everything, which need not be: simpler, C/N costs every job its budget, and
// what it buys is at least as good.
package market
