// Package engine solves the knapsacks of opt/mmkp round after round, with one of several solvers. An Engine keeps
// its items between rounds.
//
//	price      prices of the resources, then rounding and search (opt/mmkp)
//	copter     the relaxation by a continual linear solver (opt/copter), then the shim
//	lp-exact   the relaxation by HiGHS from scratch, then the shim
//	exact      branch and cut by HiGHS (opt/exact)
//
// In the relaxation an item may take fractions of its choices; the shim rounds them. Source: thesis §4.4.1 (copter
// and the shim), §4.5.1 (LP* is lp-exact).
//
// A program contains price, and the others if it imports opt/copter or opt/exact.
//
// Every solution has prices and a proven bound; exact takes them from price.
package engine
