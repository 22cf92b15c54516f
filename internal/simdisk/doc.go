// Package simdisk is a disk for tests. It can become full and crash at any write. At a power failure it loses any
// part of what was not synced.
//
// The files are real. SQLite reports its writes through a VFS of this package, and other code through Sync. Synced
// content and later writes are kept in memory.
//
// Directories survive a power failure; names in them and content only if synced. This is what POSIX promises,
// except for directories, which ext4 and XFS promise.
package simdisk
