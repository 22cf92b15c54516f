// Package counterfactual finds the cheapest change that gives a waiting job GPUs: a job ends, it requests fewer
// GPUs, the cluster has more. It plans the round again with the change, by the policy and the placer of the run in
// their state before that round, and returns the change only if the job then gets GPUs.
//
// A Recorder wraps the policy and stores what is needed to plan the last round again. Find tries changes in a
// fixed order, waiting before buying, and returns the first that helps, with the smallest number that helps.
//
// Source: Wachter et al. 2017, counterfactual explanations without opening the black box.
package counterfactual
