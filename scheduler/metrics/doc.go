// Package metrics measures a run: per job, over time and in total. A [Recorder] observes events and rounds; the
// same run gives the same bytes.
//
// Every GPU-second that a job holds is in exactly one of four accounts:
//
//	allocated = useful + restart + profiling + idle in round
//
// Restart lasts from a Run that starts or moves the job until its first report. A Run that only adds or removes
// workers is no restart. The rest is useful; it is also lost if a job without checkpoints starts over.
package metrics
