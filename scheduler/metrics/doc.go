// Package metrics watches a run and says how it went: per job, over time and
// in sum. It sees what every observer sees, events and rounds, and nothing
// else; the same run gives the same result, byte for byte.
//
// GPU time is kept in four accounts, and every GPU-second a job holds is in
// exactly one of them:
//
//	allocated = useful + restart + profiling + idle in round
//
// Restart runs from a Run that starts or moves a job to the job's first report
// after it; idle in round from a job's end to the end of its round, because
// its GPUs are not granted again before; profiling is what Profile reports say
// was spent; all else a job holds is useful. A job that is lost with a node
// holds nothing from then on. A Run by which workers join or leave is no restart: only
// what the job holds changes. Of useful time, what a job without checkpoints did before it
// began anew was lost.
//
// Where nodes can be lent, the Summary says how much is used of what is lent, of what is
// not, and of both clusters, and what it costs to give nodes back ([LoanSummary]).
//
// The time policies take is measured by the caller and kept apart
// ([Recorder.AddPolicyTime]), so that results do not depend on the machine.
package metrics
