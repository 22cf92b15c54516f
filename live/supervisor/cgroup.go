//go:build linux

package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// A group is the cgroup of a generation; nil is none. See the kernel's admin-guide/cgroup-v2.
type group struct {
	path    string
	workers []*os.File // by rank; nil if missing
}

func groupPath(l *Launch) string {
	return filepath.Join(l.Cgroup, "oxgang-"+url.PathEscape(l.Tag))
}

func newGroup(l *Launch) (*group, error) {
	if l.Cgroup == "" {
		return nil, nil //nolint:nilnil // nil is no cgroup, and none was asked for
	}
	var where unix.Statfs_t
	if err := unix.Statfs(l.Cgroup, &where); err != nil {
		return nil, fmt.Errorf("no cgroup: %s: %w", l.Cgroup, err)
	}
	if where.Type != unix.CGROUP2_SUPER_MAGIC {
		return nil, fmt.Errorf("no cgroup: %s is not a cgroup of version 2", l.Cgroup)
	}
	g := &group{groupPath(l), make([]*os.File, len(l.Workers))}
	if err := makeDir(g.path); err != nil {
		return nil, fmt.Errorf("no cgroup: %w", err)
	}
	errs := []error{g.enable(l)}
	for rank := range l.Workers {
		errs = append(errs, g.add(rank, &l.Workers[rank]))
	}
	return g, errors.Join(errs...)
}

func (g *group) enable(l *Launch) error {
	var memory, cores bool
	for _, w := range l.Workers {
		memory, cores = memory || w.Memory > 0, cores || w.Cores > 0
	}
	var errs []error
	for _, path := range []string{l.Cgroup, g.path} {
		if memory {
			errs = append(errs, set(path, "cgroup.subtree_control", "+memory"))
		}
		if cores {
			errs = append(errs, set(path, "cgroup.subtree_control", "+cpu"))
		}
	}
	return errors.Join(errs...)
}

func (g *group) add(rank int, w *Worker) error {
	path := filepath.Join(g.path, strconv.Itoa(rank))
	if err := makeDir(path); err != nil {
		return err
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	g.workers[rank] = dir
	var errs []error
	if w.Memory > 0 {
		errs = append(errs, set(path, "memory.max", strconv.FormatInt(w.Memory, 10)))
	}
	if w.Cores > 0 {
		const period = 100_000 // microseconds, the kernel's default
		errs = append(errs, set(path, "cpu.max", fmt.Sprintf("%.0f %d", max(1000, w.Cores*period), period)))
	}
	return errors.Join(errs...)
}

func (g *group) worker(rank int) (fd int, ok bool) {
	if g == nil || g.workers[rank] == nil {
		return 0, false
	}
	return int(g.workers[rank].Fd()), true
}

// kill uses cgroup.kill. Kernels before 5.14 lack it; then killAll kills them one by one.
func (g *group) kill() {
	if g != nil {
		_ = set(g.path, "cgroup.kill", "1")
	}
}

func (g *group) remove() error {
	if g == nil {
		return nil
	}
	var errs []error
	for _, dir := range g.workers {
		if dir == nil {
			continue
		}
		errs = append(errs, dir.Close(), gone(unix.Rmdir(dir.Name())))
	}
	return errors.Join(append(errs, gone(unix.Rmdir(g.path)))...)
}

func set(path, name, value string) error {
	f, err := os.OpenFile(filepath.Join(path, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

func makeDir(path string) error {
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
