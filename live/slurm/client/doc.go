// Package client runs Slurm's commands. It reads jobs and nodes as JSON (data parsers v0.0.37 to v0.0.45), or as
// text if Slurm has no JSON or an unknown version. Partitions, reservations and accounting are read as text, which
// is the same in all versions. Unexpected output is an error, and nothing of it is returned.
//
// Commands run with LC_ALL=C and SLURM_TIME_FORMAT=%s, so dates are seconds since 1970 in each locale and time
// zone.
package client
