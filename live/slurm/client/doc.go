// Package client runs Slurm's commands. It reads jobs and nodes as JSON (data parsers v0.0.37 to v0.0.45), or as
// text if Slurm has no JSON or an unknown version. Partitions, reservations and accounting are read as text, which
// is the same in all versions. Unexpected output is an error, and nothing of it is returned.
//
// Commands run with LC_ALL=C and SLURM_TIME_FORMAT=%s, so dates are seconds since 1970 in each locale and time
// zone.
//
// It also reads and writes the two comments of a job that the scheduler uses, and makes the batch scripts of elastic
// jobs and the tokens of their programs.
//
// The user's Comment opts the job in. It starts with "oxgang:" and contains words separated by ";":
//
//	oxgang:order                             its place among waiting jobs may change
//	oxgang:elastic;min=2;max=16;class=bert   it may also be stopped and resized
//	oxgang:elastic;min=2;max=16;type=a100+h100   only on these GPU types
//	oxgang:elastic;min=2;max=16;token=...        its program sends messages with a token of this digest
//
// The AdminComment, which users cannot write, is a Mark: the state that the scheduler needs after a restart and
// to undo its changes.
package client
