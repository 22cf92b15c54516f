//go:build linux

package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

var errHeld = errors.New("the lock is held")

// The lock of a generation is an open file description lock. Processes that inherit the file share it, and it is
// released when the last one ends. It can be tested without being taken.

func takeLock(dir string, create int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|create, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

var lock = func(f *os.File) error {
	whole := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &whole)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errHeld
	}
	if err != nil {
		return fmt.Errorf("%s: lock: %w", f.Name(), err)
	}
	return nil
}

var held = func(dir string) (bool, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	whole := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &whole); err != nil {
		return false, fmt.Errorf("%s: test the lock: %w", f.Name(), err)
	}
	return whole.Type != unix.F_UNLCK, nil
}
