// Package client runs the commands of Slurm as the user may, and returns what they say as plain data.
//
// State is read from squeue and scontrol in JSON, of the data parsers v0.0.37 to v0.0.45, and in
// text where a Slurm has no JSON, or none that is known. Partitions, reservations and
// accounting are read as text, which is the same in all versions. What does not have the
// expected form is an error, and nothing of it is returned. No method writes unless its comment
// says so.
//
// Commands run with LC_ALL=C and SLURM_TIME_FORMAT=%s, so that dates are seconds since 1970 in
// each locale and time zone.
package client
