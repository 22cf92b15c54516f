package statedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func size(path string) (int64, error) {
	var total int64
	seen := map[[2]uint64]bool{}
	err := walk(path, func(_ int, _ string, s *unix.Stat_t) error {
		key := [2]uint64{s.Dev, s.Ino}
		if !seen[key] {
			total += allocated(s)
		}
		if s.Nlink > 1 {
			seen[key] = true
		}
		return nil
	}, func(int, string) error { return nil })
	return total, err
}

func allocated(s *unix.Stat_t) int64 {
	return max(block, min((s.Size+block-1)/block*block, (s.Blocks*512+block-1)/block*block))
}

func removeAll(path string) error {
	return walk(path, func(at int, name string, s *unix.Stat_t) error {
		if s.Mode&unix.S_IFMT == unix.S_IFDIR {
			return nil
		}
		return unlessAbsent(unix.Unlinkat(at, name, 0))
	}, func(at int, name string) error {
		return unlessAbsent(unix.Unlinkat(at, name, unix.AT_REMOVEDIR))
	})
}

func unlessAbsent(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

type walker struct {
	at    *os.File // the open folder
	stack []level  // from the parent of the walk's start to at
	visit func(at int, name string, s *unix.Stat_t) error
	leave func(at int, name string) error
}

type level struct {
	name     string
	dev, ino uint64
	below    []string // folders in it that are still to be walked
}

func walk(path string, visit func(at int, name string, s *unix.Stat_t) error, leave func(at int, name string) error) error {
	top, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	w := &walker{at: top, stack: []level{{}}, visit: visit, leave: leave}
	if err = w.entry(filepath.Base(path)); err == nil {
		err = w.all()
	}
	if err = errors.Join(err, w.at.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (w *walker) all() error {
	for {
		here := &w.stack[len(w.stack)-1]
		var err error
		switch n := len(here.below); {
		case n > 0:
			name := here.below[n-1]
			here.below = here.below[:n-1]
			err = w.enter(name)
		case len(w.stack) == 1:
			return nil
		default:
			err = w.up()
		}
		if err != nil {
			return err
		}
	}
}

func (w *walker) entry(name string) error {
	var s unix.Stat_t
	if err := unix.Fstatat(int(w.at.Fd()), name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return unlessAbsent(err)
	}
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		here := &w.stack[len(w.stack)-1]
		here.below = append(here.below, name)
	}
	return w.visit(int(w.at.Fd()), name, &s)
}

func (w *walker) enter(name string) error {
	next := level{name: name}
	if err := w.open(name, &next); err != nil {
		return unlessAbsent(err)
	}
	w.stack = append(w.stack, next)
	names, err := w.at.Readdirnames(-1)
	for _, name := range names {
		if err == nil {
			err = w.entry(name)
		}
	}
	return err
}

func (w *walker) up() error {
	done, parent := w.stack[len(w.stack)-1], &w.stack[len(w.stack)-2]
	var found level
	if err := w.open("..", &found); err != nil {
		return err
	}
	if len(w.stack) > 2 && (found.dev != parent.dev || found.ino != parent.ino) {
		return fmt.Errorf("folder %s was moved meanwhile", done.name)
	}
	w.stack = w.stack[:len(w.stack)-1]
	return w.leave(int(w.at.Fd()), done.name)
}

func (w *walker) open(name string, l *level) error {
	fd, err := unix.Openat(int(w.at.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	next := os.NewFile(uintptr(fd), name)
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return errors.Join(err, next.Close())
	}
	l.dev, l.ino = s.Dev, s.Ino
	err = w.at.Close()
	w.at = next
	return err
}
