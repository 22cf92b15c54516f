// Package monitor provides metrics, logs and traces of a live scheduler. Metrics belong to one registry and any
// number of queues. docs/reference/metrics.md describes each metric.
//
// The scheduler does not depend on this package: a Queue is a scheduler.Observer, and a Watch wraps policy, placer
// and backend. Options.Jobs adds series for each job.
package monitor
