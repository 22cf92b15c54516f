// Package simdisk is a disk for tests. It may become full, and a crash may come at any of its writes.
// When the power fails, it loses what was not synced, or a part of it, in any order.
//
// The files are real ones, below one directory. Two kinds of writers tell the disk what they do:
// SQLite, by a VFS of this package that stands before its own, and code that syncs files through
// Disk.Sync. What is synced, and what was written since, the disk keeps in memory.
//
// A directory that was made is there after a power failure; a name in it, and what a file holds, only
// if they were synced. This is what POSIX promises, but for directories, which ext4 and XFS promise.
package simdisk
