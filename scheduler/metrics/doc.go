// Package metrics measures a run: per job, over time and in total. A [Recorder] observes events and rounds only. The
// same run gives the same result, byte for byte.
//
// Every GPU-second that a job holds is in exactly one of four accounts:
//
//	allocated = useful + restart + profiling + idle in round
//
// Restart lasts from a Run that starts or moves the job until its first report. A Run that only adds or removes
// workers is no restart. Idle in round lasts from the end of the job to the end of its round, because the GPUs are
// not assigned before. Profiling is the time in Profile reports. The rest is useful; if a job without checkpoints
// starts over, its useful time so far is also counted as lost.
//
// [Recorder.AddPolicyTime] keeps the run times of policies apart from the [Result], so that a Result does not depend
// on the machine.
package metrics
