// Package agentapi is the API between the workers of live jobs and the scheduler: JSON over
// HTTP, on a unix socket, on loopback or, inside a cluster, over TLS. Rank 0 of a job says what
// the job is (Hello), what it measured (Report) and what it saved (Checkpoint); the answers
// say which batch size to train with and whether to stop. live/agentapi/agent.yaml specifies the API, and
// live/agentapi/testdata/agent has one example of each message, which the tests of both sides read.
//
// Workers are not trusted:
//
//   - Only the bearer token of a request says which job it is of; nothing in its body does.
//   - A body is at most 64 KiB of JSON. Every key is known and occurs once, every required key is
//     there, and every number has passed one function, span.admit, which accepts only finite
//     values of a given range.
//   - A job's reports cannot go backwards within a generation. A report that was accepted before
//     gets the same answer again, and is not passed on again.
//   - A message that fails a check is refused with an error that says why, kept as the job's
//     Quarantine, and never passed to Jobs.
//   - Each job has a rate limit, requests without a known token have one per listener, and slow or
//     endless requests are cut off.
//
// Whether a report is faster than its hardware allows is not checked, because nothing here knows
// what a GPU can do.
//
// Accepted messages are remembered only in memory: after a restart of the server, the first report
// is accepted without comparison.
package agentapi
