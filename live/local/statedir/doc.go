// Package statedir has the state directory of the scheduler of one machine: the database, the
// journals, and a folder for each job with its log, its checkpoints and its starts.
//
//   - Folders says where files are, and what marks the processes of a job.
//   - Look and All ask the supervisor of each start how that start is. They change nothing, but kill
//     processes whose supervisor is gone.
//   - Each job has a record in its folder (WriteRecord). Check notices that the database has lost
//     history, and Rebuild rebuilds it from the records. What jobs reported is lost.
//   - Prune deletes what jobs that have ended leave, by age and by size. The database keeps a row of
//     every job, so that no other job gets its name.
//   - Backup writes the database, the journals and, if wanted, checkpoints into a tar archive; Restore
//     makes a state directory of it. The last entry has a checksum of all before.
package statedir
