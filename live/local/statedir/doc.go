// Package statedir manages the state directory of a machine's scheduler: the database, the journals, and a
// folder per job with its log, checkpoints and starts.
//
//   - Folders has the paths, and the tag of a job's processes.
//   - Look and All ask the supervisors for the state of each start. They only kill processes whose supervisor
//     is gone.
//   - WriteRecord stores a record of each job in its folder. Check finds out whether the database has lost
//     history, and Rebuild restores it from the records, except for reports.
//   - Prune deletes the files of ended jobs by age and size. The database keeps a row for every job, so names
//     are not reused.
//   - Backup writes the database, the journals and optionally checkpoints to a tar archive, with a checksum in
//     the last entry. Restore makes a state directory of it.
package statedir
