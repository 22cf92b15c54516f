// Package simdisk is a disk for tests. It can become full, crash at any write, and lose unsynced data at a power
// failure.
//
// The files are real. SQLite reports its writes through a VFS of this package, and other code through Sync. Synced
// content and later writes are kept in memory.
//
// Directories survive a power failure; names in them and content only if synced. POSIX promises this, except for
// directories, which ext4 and XFS promise.
package simdisk
