package local

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

const cgroups = "/sys/fs/cgroup"

func cores() (float64, error) {
	n := float64(runtime.NumCPU())
	for _, dir := range groups(cgroups, "cpu") {
		quota, err := quotaOf(dir)
		if err != nil {
			return 0, err
		}
		n = min(n, quota)
	}
	return n, nil
}

func memory() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	total, err := totalIn(string(text))
	if err != nil {
		return 0, err
	}
	for _, dir := range groups(cgroups, "memory") {
		limit, err := limitOf(dir)
		if err != nil {
			return 0, err
		}
		total = min(total, limit)
	}
	return total, nil
}

func totalIn(meminfo string) (int64, error) {
	for line := range strings.Lines(meminfo) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "MemTotal:" && words[2] == "kB" {
			n, err := bytesOf(words[1], 1<<10)
			if err == nil && n == 0 {
				err = errors.New("0, want more than 0")
			}
			if err != nil {
				return 0, fmt.Errorf("/proc/meminfo: MemTotal: %w", err)
			}
			return n, nil
		}
	}
	return 0, errors.New("/proc/meminfo: no MemTotal in kB")
}

func groups(mount, controller string) []string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	return groupsIn(string(text), mount, controller)
}

// groupsIn reads lines of "4:memory:/a/b" (version 1) and "0::/a/b" (version 2). See cgroups(7).
func groupsIn(text, mount, controller string) []string {
	var dirs []string
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var root string
		switch {
		case parts[1] == "":
			root = mount
		case strings.Contains(","+parts[1]+",", ","+controller+","):
			root = filepath.Join(mount, controller)
		default:
			continue
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			dirs = append(dirs, filepath.Join(root, at))
			if at == "/" {
				break
			}
		}
	}
	return dirs
}

func limitOf(dir string) (int64, error) {
	for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
		words, err := read(dir, name, 1)
		if err != nil {
			return 0, err
		}
		if words == nil || words[0] == "max" {
			continue
		}
		n, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%s: %q, want a number of bytes", filepath.Join(dir, name), words[0])
		}
		if n > 0 {
			return n, nil
		}
	}
	return math.MaxInt64, nil
}

func quotaOf(dir string) (float64, error) {
	words, err := read(dir, "cpu.max", 2)
	if err != nil {
		return 0, err
	}
	if words == nil {
		quota, err := read(dir, "cpu.cfs_quota_us", 1)
		period, err2 := read(dir, "cpu.cfs_period_us", 1)
		if err := errors.Join(err, err2); err != nil || quota == nil || period == nil {
			return math.Inf(1), err
		}
		words = []string{quota[0], period[0]}
	}
	if words[0] == "max" || words[0] == "-1" {
		return math.Inf(1), nil
	}
	quota, err := strconv.ParseInt(words[0], 10, 64)
	period, err2 := strconv.ParseInt(words[1], 10, 64)
	if err != nil || err2 != nil || quota <= 0 || period <= 0 {
		return 0, fmt.Errorf("%s: a quota of %q, want quota and period in microseconds", dir, words)
	}
	return float64(quota) / float64(period), nil
}

func read(dir, name string, words int) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	got := strings.Fields(string(text))
	if len(got) != words {
		return nil, fmt.Errorf("%s: %d words, want %d", filepath.Join(dir, name), len(got), words)
	}
	return got, nil
}
