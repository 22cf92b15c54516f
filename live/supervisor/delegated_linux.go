package supervisor

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Delegated returns the path of the cgroup v2 directory that systemd has delegated to this process (Delegate=yes), or
// "" if there is none.
func Delegated() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	return delegated(string(text), "/sys/fs/cgroup", marked)
}

// delegated returns the nearest delegated directory at or above the group in text, which is like /proc/self/cgroup.
func delegated(text, mount string, is func(dir string) bool) string {
	for line := range strings.Lines(text) {
		group, found := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		if !found || strings.Contains("/"+group+"/", "/../") {
			continue
		}
		for ; group != "." && group != ""; group = filepath.Dir(group) {
			if dir := filepath.Join(mount, group); is(dir) {
				return dir
			}
		}
	}
	return ""
}

func marked(dir string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil || fs.Type != unix.CGROUP2_SUPER_MAGIC || unix.Access(dir, unix.W_OK) != nil {
		return false
	}
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 8)
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}
