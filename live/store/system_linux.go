package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// room is the free space in bytes below which a disk counts as full: the failed write may have been larger.
const room = 1 << 20

func full(dir string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && fs.Bavail*uint64(fs.Bsize) < room
}

func release(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

func seize(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s: is not a directory: use another path, or remove it", dir)
	case int(owner) != os.Geteuid():
		return fmt.Errorf("%s: belongs to user %d: use a directory of your own", dir, owner)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s: others may write to it (mode %v): run \"chmod go-w %[1]s\", and check its content", dir, info.Mode().Perm())
	}
	return nil
}

func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s: is a link, which the scheduler does not create: remove it", path)
	}
	return f, err
}

func single(info os.FileInfo) bool { return info.Sys().(*syscall.Stat_t).Nlink == 1 }
