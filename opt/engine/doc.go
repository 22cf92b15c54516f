// Package engine solves the knapsacks of opt/mmkp, round after round, by one of
// several solvers with the same interface: an Engine keeps the items between
// rounds, and a round edits those that have changed.
//
//	price      prices of the resources, then rounding and search (opt/mmkp)
//	copter     the relaxation by a continual linear solver (opt/copter), then the shim
//	lp-exact   the relaxation by HiGHS, anew each round, then the shim
//	exact      branch and cut by HiGHS (opt/exact)
//
// In the relaxation an item may take fractions of its choices; the shim rounds them.
// Source: thesis §4.4.1 (copter and the shim), §4.5.1 (LP* is lp-exact).
//
// Every engine's solution has prices and a proven bound. An engine that has none
// of its own (exact) gets those of price.
package engine
