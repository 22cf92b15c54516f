// Package load measures what oxgang-scheduler costs on real control planes with fake nodes.
//
// Nothing here is part of the gate: it takes minutes and wants a machine of its own. With
// OXGANG_LONG=1 it runs:
//
//	OXGANG_LONG=1 go test ./load -run TestStarted -v -timeout 30m
//
// What is compared is compared in one run, in turn; processor time is user and system, as the
// kernel counts it for each process, in steps of 10 ms. Bounds are far from what is measured:
// they find what has grown out of all proportion.
//
// On two cores that others used too (load 25) it showed: a started pod costs 1.32 times (1.06
// to 1.38) what it costs with kube-scheduler alone; 2.1 to 3.2 ms of that are oxgang-scheduler.
// From the start of the process to its first plan, with 1,000 nodes and 2,000 pods, it is 3.5 s.
// A report costs 153 µs, which is 0.31 of a core at 2,000 a second. A round of Sia's for 500
// jobs takes 0.5 s, 0.06 s of them of processor time. A queue of 500 jobs where nothing happens
// cost 2.9 % of a core at a round a second, more than half of that for looking at them twice a
// round, which is once now.
package load
