package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience is the wait for the lock of a dead process, which a child holds until exec.
const patience = 5 * time.Second

// ErrBrief is returned by Open if a process that will end soon by itself uses the directory.
var ErrBrief = errors.New("it ends by itself")

// brief is what a process appends to its ID in the lock if others should wait for it.
const brief = " for a short time"

func lives(f *os.File) bool {
	var pid int
	if _, err := fmt.Sscanf(holder(f), "process %d", &pid); err != nil || pid < 1 {
		return true // not written yet
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func lock(dir string) (*os.File, error) {
	if err := private(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "oxgang.lock")
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := plain(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w: remove it", path, err), f.Close())
	}
	err = seize(f)
	for end := time.Now().Add(patience); errors.Is(err, syscall.EWOULDBLOCK) && !lives(f) && time.Now().Before(end); err = seize(f) {
		time.Sleep(10 * time.Millisecond)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = inUse(dir, holder(f))
	}
	if err == nil {
		err = sign(f, "")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func inUse(dir, holder string) error {
	if strings.HasSuffix(holder, brief) {
		return fmt.Errorf("%s is used by %s: %w", dir, holder, ErrBrief)
	}
	return fmt.Errorf("%s is used by %s: stop that first, or use another directory", dir, holder)
}

// Brief states that this process will end soon: other processes that open the directory get ErrBrief, and can wait.
func (s *Store) Brief() error { return sign(s.lock, brief) }

func plain(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !single(info) {
		return errors.New("want a regular file without other names")
	}
	return nil
}

func sign(f *os.File, how string) error {
	pid := fmt.Sprintf("%d%s\n", os.Getpid(), how)
	if _, err := f.WriteAt([]byte(pid), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(pid)))
}

func holder(f *os.File) string {
	text := make([]byte, 40)
	n, _ := f.ReadAt(text, 0)
	pid, _, signed := strings.Cut(string(text[:n]), "\n")
	if !signed {
		return "another process"
	}
	return "process " + pid
}
