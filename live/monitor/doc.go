// Package monitor shows people what a live scheduler does: metrics for Prometheus, and how
// long each stage of a round took. Metrics are of one registry and of any number of queues;
// a Queue watches the scheduler of one. What the metrics mean is in
// docs/reference/metrics.md.
//
// Nothing in the scheduler knows of it: a Queue is a scheduler.Observer, and its Watch wraps
// what a scheduler is put together from. Series are per queue and GPU type, and so as many
// as the cluster has; series per job only where they are asked for.
package monitor
