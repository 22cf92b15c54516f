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

// errHeld says that somebody else has the lock.
var errHeld = errors.New("the lock is held")

// The lock of a generation belongs to an open file description, as that of
// flock(2): a process that inherits the file has it too, and it is released when the last of
// them is gone. Unlike flock's, it can be tested without being taken, so a test never keeps a
// supervisor from starting. See fcntl(2), "Open
// file description locks".

// takeLock takes the lock of dir, or returns errHeld. With os.O_CREATE the file is
// made where it is not there; else that is fs.ErrNotExist.
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

// lock takes the lock through f; f may hold it already. It is a variable for
// the test that must notice a supervisor without it.
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

// held reports whether somebody has the lock of dir, without taking it. It is a
// variable for the test in which a generation begins before it looks.
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
		return false, fmt.Errorf("%s: look at the lock: %w", f.Name(), err)
	}
	return whole.Type != unix.F_UNLCK, nil
}
