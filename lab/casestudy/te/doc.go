// Package te is traffic engineering of a wide-area network: demands between
// pairs of nodes share the links' capacities so that the most is carried, again
// every round, as the demands move. Source: thesis §5.1.2, §5.2.2.
//
// Dictionary: demand d_j is Demand; its paths P_j are Paths, up to four that
// share no link; the flow X_j^p is a column of Program.LP, whose rows (b) and (c)
// are Program.Demand and Program.Link; links e with capacity c_e are
// Topology.Links.
package te
