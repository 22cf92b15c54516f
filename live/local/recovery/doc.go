// Package recovery notices that the database of a state directory has lost history, and rebuilds
// it from the folders of jobs.
//
// Each job that the database accepted has a record in its folder (Write): what was asked, who it
// is, and how it ended. Check compares the folders with the database, and changes nothing. Rebuild
// gives the database the jobs, generations and endings that only the folders know. What jobs
// reported, and jobs whose folders were removed, cannot be rebuilt.
package recovery
