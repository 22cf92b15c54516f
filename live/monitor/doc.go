// Package monitor measures what a live scheduler does: metrics for Prometheus, and the time
// of each stage of a round. Metrics belong to one registry and hold any number of queues; a
// Queue measures the scheduler of one. docs/reference/metrics.md says what each metric means.
//
// The scheduler does not depend on it: a Queue is a scheduler.Observer, and a Watch wraps the
// policy, the placer and the backend. There is a series for each queue and GPU type. There are
// series for each job only if Options.Jobs is set.
package monitor
