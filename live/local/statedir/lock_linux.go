package statedir

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

var errLocked = errors.New("another process uses the folder")

func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		err = fs.ErrPermission
	}
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
