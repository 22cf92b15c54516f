package store

import (
	"os"
	"syscall"
)

// room is what a disk must have left, in bytes, that is not full: a failed write may have
// been larger than what is left.
const room = 1 << 20

// full reports whether the disk of a directory has no room left.
func full(dir string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && fs.Bavail*uint64(fs.Bsize) < room
}

// release releases the lock of a file, even if other processes have the file open.
func release(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// seize locks a file for this process, or fails at once with EWOULDBLOCK.
func seize(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
