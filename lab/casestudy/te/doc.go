// Package te is the COpter thesis' case study of traffic engineering: demands share the links' capacities. Each round
// maximises the total flow as demands change. Source: thesis §5.1.2, §5.2.2.
//
// Dictionary: demand d_j is Demand; its paths P_j are Paths, up to four without a common link; the flow X_j^p is a
// column of Program.LP, whose rows (b) and (c) are Program.Demand and Program.Link; links e with capacity c_e are
// Topology.Links.
package te
