// Package monitor provides metrics, logs and traces of a live scheduler.
//
// The scheduler does not depend on this package: a Queue is a scheduler.Observer, and a Watch wraps policy, placer
// and backend.
package monitor
