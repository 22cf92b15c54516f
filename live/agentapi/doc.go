// Package agentapi is the API between the workers of live jobs and the scheduler: JSON over HTTP, on a unix socket,
// on loopback or, inside a cluster, over TLS. Rank 0 of a job describes the job (Hello), its measurements (Report)
// and its checkpoints (Checkpoint). The answers contain the batch size and requests to stop.
// live/agentapi/agent.yaml specifies it; live/agentapi/testdata/agent has examples that the tests of both sides
// read.
//
// Workers are not trusted:
//
//   - Only the bearer token identifies the job; the body does not.
//   - A body is at most 64 KiB of JSON. Keys are known and unique, required keys are present, and each number passed span.admit.
//   - Within a generation, reports cannot go backwards. A repeated report gets the same answer and is not passed on.
//   - A message that fails a check is refused with the reason, stored as the job's Quarantine, and not passed to Jobs.
//   - Rate limits apply to each job, and per listener to requests without a known token. Slow requests are cut off.
//
// A report that is faster than the hardware allows is not detected. Accepted messages are in memory only: after a
// restart, the first report is not compared with earlier ones.
package agentapi
