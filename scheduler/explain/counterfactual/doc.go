// Package counterfactual finds the cheapest change that gives a waiting job GPUs: a job ends, it asks for
// less, the cluster has more. It does not guess from prices or free GPUs. It decides the round again with the
// change, by the policy and the placer of the run in their state before that round, and returns the change only
// if the job then gets GPUs.
//
// A Recorder stands between the scheduler and its policy and keeps what it takes to decide the last
// round again. Find tries changes in a fixed order, waiting before buying, and returns the first
// that helps. Its numbers are the smallest that help: with one less, the job got nothing.
//
// Source: Wachter et al. 2017, counterfactual explanations without opening the black box.
package counterfactual
