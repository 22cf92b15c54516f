// Package counterfactual finds the cheapest change by which a job would get GPUs that it does not
// have: a job ends, it asks for less, the cluster has more. A change is not guessed from prices or
// from free GPUs: the round is decided again with it, by the policy and the placer of the run as
// they were before that round, and the change is told only if the job then gets GPUs.
//
// A Recorder stands between the scheduler and its policy and keeps what it takes to decide the last
// round again. Find tries changes one after another, waiting before buying, and returns the first
// that helps. A number in a change is the least that helps: the round was decided again with one
// less, too, and the job got nothing.
//
// The word is that of explanations of decisions in general. Source: Wachter et al. 2017,
// counterfactual explanations without opening the black box.
package counterfactual
