// Package load measures what oxgang-scheduler costs on real control planes with fake nodes.
//
// Nothing here is part of the gate: it takes minutes and wants a machine of its own. With
// OXGANG_LONG=1 it runs:
//
//	OXGANG_LONG=1 go test ./load -run TestStarted -v -timeout 30m
//
// TestBaseline_of_Kueue runs Kueue's own performance test, and the same jobs through Kueue and through
// oxgang-scheduler; docs/experiments/kubernetes.md has the figures.
//
// What is compared is compared in one run, in turn; processor time is user and system, as the
// kernel counts it for each process, in steps of 10 ms. Bounds are far from what is measured:
// they find what has grown out of all proportion.
//
// On two cores, with nothing else to do, it showed: a started pod costs 1.16 times (1.06 to 1.31)
// what it costs with kube-scheduler alone, and 1.46 times (1.34 to 1.83) in an earlier run; 1.3 to
// 1.8 ms of that are oxgang-scheduler. From the start of the process to its first plan, with 1,000
// nodes and 2,000 pods, it is 2.1 s. A report costs 191 µs, which is 0.38 of a core at 2,000 a
// second. A queue of 500 jobs where nothing happens costs 1.4 % of a core at a round a second, and
// a round of Sia's 0.01 s. To start 400 of 500 jobs takes 905 to 1126 writes: some hundred jobs
// are told that they wait before they are told that they start, more than the bound of
// TestCrowd allows for in four runs of six.
package load
