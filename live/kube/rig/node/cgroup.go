package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// prefix is the prefix of control groups; the maker's PID follows.
const prefix = "oxgang-rig-"

func makeGroups(root, name string) error {
	for _, c := range append([]string{"systemd"}, controllers...) {
		if _, err := os.Stat(filepath.Join(root, c)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.MkdirAll(filepath.Join(root, c, name), 0o755); err != nil {
			return fmt.Errorf("make control group: %w", err)
		}
	}
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		all, err := os.ReadFile(filepath.Join(root, "cpuset", file))
		if err != nil {
			return fmt.Errorf("make control group: %w", err)
		}
		if err := os.WriteFile(filepath.Join(root, "cpuset", name, file), all, 0o644); err != nil {
			return fmt.Errorf("make control group: %w", err)
		}
	}
	return nil
}

func sweepGroups(root string) {
	found, err := filepath.Glob(filepath.Join(root, "*", prefix+"*"))
	if err != nil {
		panic(err) // bad pattern
	}
	for _, dir := range found {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		pid, err := strconv.Atoi(maker)
		if err == nil && unix.Kill(pid, 0) != unix.ESRCH {
			continue
		}
		removeTree(dir)
	}
}

func removeGroups(root, pattern string) {
	found, err := filepath.Glob(filepath.Join(root, "*", pattern))
	if err != nil {
		panic(err) // bad pattern
	}
	for _, dir := range found {
		removeTree(dir)
	}
}

func removeTree(dir string) {
	children, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, c := range children {
		if c.IsDir() {
			removeTree(filepath.Join(dir, c.Name()))
		}
	}
	_ = unix.Rmdir(dir) // busy: for the next sweep
}

func members(root, name string) ([]int, error) {
	var pids []int
	top := filepath.Join(root, "devices", name)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.Name() != "cgroup.procs" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for field := range strings.FieldsSeq(string(data)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
			pids = append(pids, pid)
		}
		return nil
	})
	return pids, err
}
