// Package load measures what oxgang-scheduler costs on real control planes with fake nodes. It is not part of the
// gate: it takes minutes and needs an otherwise idle machine. It runs with OXGANG_LONG=1:
//
//	OXGANG_LONG=1 go test ./load -run TestStarted -v -timeout 30m
//
// TestBaseline_of_Kueue runs Kueue's own performance test, and the same jobs with Kueue and with oxgang-scheduler;
// docs/experiments/kubernetes.md has the results.
//
// Measured on two idle cores: a started pod costs 1.16 times (1.06 to 1.31) as much as with kube-scheduler alone;
// oxgang-scheduler uses 1.3 to 1.8 ms of it. The first plan takes 2.1 s with 1,000 nodes and 2,000 pods. An idle
// queue of 500 jobs costs 1.4 % of a core at one round per second. Starting 400 of 500 jobs takes 905 to 1126
// writes, often above the limit of TestCrowd.
package load
