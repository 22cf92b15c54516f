// Package minkunion picks n sets with the cheapest union: the minimum k-union problem with costs.
//
//	minimise    Σ_{s ∈ S} aₛ + Σ_{e ∈ ∪S} cₑ     over S with |S| = n
//
// It is NP-hard. With a price λ on every set instead,
//
//	L(λ) = λn + min_S { Σ_{s ∈ S} (aₛ − λ) + Σ_{e ∈ ∪S} cₑ } ≤ optimum,
//
// and the minimum is a closure, found by one maximum flow.
//
// Dictionary: aₛ Set.Cost, cₑ Problem.Elements, n Problem.Pick, λ and L searcher.price.
//
// The flow also gives reduced costs. Including an element outside the closure raises L by its unused room or more.
// Leaving out a set of the closure raises L by what it could not send, or more. A decision that raises L above the
// best answer's cost is excluded without search.
//
// Invariant: every answer that is better than the best one by Options.Slack is in an open node. Every node fixes
// one more element than its parent, and MaxSteps bounds the visited edges, so the search ends; the bound is then
// the lowest of the open nodes. Equal calls give equal answers.
//
// Source: Picard, "Maximal closure of a graph and applications to combinatorial problems", Management Science
// 22(11), 1976. Source: Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
// estimation", Soviet Mathematics Doklady 11, 1970.
package minkunion
