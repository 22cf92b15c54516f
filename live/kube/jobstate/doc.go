// Package jobstate has the leader's state of each job, which it restores from the Plan of the previous leader, and
// the options of a queue. A generation is one start of a job.
//
// The function Next is the state machine of a job: it moves the job to another Phase.
//
//	                     Granted                start is written
//	Waiting ────────────────────────▶ Pending ──────────────────▶ Queued ─▶ Starting ◀─▶ Running
//	   ▲                                                                        ▲             ▲
//	   │ its pods are gone                                     grown or shrunk  ▼             ▼
//	Draining ◀── Stopping ◀── a plan without it, or with a new generation ── Resizing      Closing
//
//	any, with GPUs ── GiveUp ─▶ Lost ── Hear ─▶ Vacated ── Commit ─▶ Waiting
//	any ── End ─▶ Ended
//
// The next step depends only on the plan and the observation, not on the history: a new leader computes the same
// phase. Only Lost, Vacated and Ended are stored; every other phase is computed at each Look.
//
// Invariants, which the tests check for each phase, event and set of facts:
//   - Ended is final, and a job that has ended is not changed.
//   - Nothing is done while the watches lack the last write.
//   - A job without planned GPUs is only stopped or fenced.
//   - A job starts only when no pod of an earlier generation exists: GPUs are released before they are acquired.
//   - An unplanned generation is stopped at once, except during the minute in which it may end by itself.
package jobstate
