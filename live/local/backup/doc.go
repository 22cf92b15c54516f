// Package backup writes what a scheduler must not lose into one file, while it runs or not, and makes
// a state directory of such a file. A backup is a tar archive of the database, the journals and,
// if they are wanted, the checkpoints of jobs that had not ended. Its last entry says what is in it, with
// a checksum of all before, so that one that was cut short is noticed.
package backup
