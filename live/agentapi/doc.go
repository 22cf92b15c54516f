// Package agentapi is the API between the workers of live jobs and the scheduler: JSON over
// HTTP, on a unix socket, on loopback or, inside a cluster, over TLS. Rank 0 of a job says what
// the job is (Hello), what it measured (Report) and what it saved (Checkpoint); the answers
// say which batch size to train with and whether to stop. api/agent.yaml is the contract,
// api/testdata/agent has one example of each message, which the tests of both sides read.
//
// Workers are not trusted. The bearer token of a request says whose it is; nothing in a
// body can. A body is at most 64 KiB of JSON in which every key is known and occurs once,
// every required key is there, and every number has passed one function, span.admit, that
// lets through finite values of a named range only. A job's reports cannot go backwards
// within a generation, and one that was taken in already is answered and not taken in
// again. What fails any of this is refused with a complaint that names it, kept as the
// job's Quarantine, and never shown to Jobs. Each job has a rate of its own, requests
// without a known token have one per listener, and slow or endless requests are cut off.
//
// That a report is faster than its hardware allows is not checked: nothing here knows what
// a GPU can do.
//
// What was taken in is remembered in memory only: the first report after a restart of the
// server is taken as it comes.
package agentapi
