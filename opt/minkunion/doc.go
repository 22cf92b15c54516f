// Package minkunion picks a number of sets whose union costs least: the minimum k-union
// problem with costs.
//
//	minimise    Σ_{s ∈ S} aₛ + Σ_{e ∈ ∪S} cₑ     over S with |S| = n
//
// It is NP-hard, but with a price λ on every set instead of the count,
//
//	L(λ) = λn + min_S { Σ_{s ∈ S} (aₛ − λ) + Σ_{e ∈ ∪S} cₑ } ≤ optimum,
//
// the minimum is a closure, found by one maximum flow from sets to their elements. One
// file each:
//
//	problem.go   what is asked and answered
//	network.go   the flow, kept between prices and between nodes of the search
//	price.go     the λ of the highest L, by the lines of the closures met
//	start.go     first answers: greedy, and what remains of a closure too large
//	search.go    branch and bound over elements: in the union, or out of it
//	nodes.go     the nodes still to be searched: that of the lowest bound is next
//	anneal.go    better answers where a quarter of the steps does not end the search
//
// Dictionary: aₛ Set.Cost, cₑ Problem.Elements, n Problem.Pick, λ and L searcher.price.
//
// A maximum flow also gives reduced costs. To put an element outside the closure into the
// union raises L by at least the element's unused room; to leave out a set of the closure
// raises L by at least what the set could not send. A decision that would raise L above the
// cost of the best answer is excluded without search.
//
// Invariant: every answer that is better than the best one by Options.Slack is in a node that
// the search has not left. It ends, because every node fixes one more element than the one it comes from, and because
// MaxSteps bounds the edges looked at; the lowest bound of the nodes left is then that of the answer.
//
// Limits are counts of edges looked at, never seconds, and nothing is random: equal calls
// give equal answers on every machine.
//
// Source: Picard, "Maximal closure of a graph and applications to combinatorial problems",
// Management Science 22(11), 1976. Source: Dinic, "Algorithm for solution of a problem of
// maximum flow in networks with power estimation", Soviet Mathematics Doklady 11, 1970.
package minkunion
