package supervisor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Program returns the path of the executable of a worker. A name with a slash is relative to dir; other names are
// searched in the PATH of env.
func Program(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		path := within(dir, name)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s: no such file or directory", name)
		case !runs(info):
			return "", fmt.Errorf("%s: permission denied: it is not executable", name)
		}
		return path, nil
	}
	for _, folder := range filepath.SplitList(value(env, "PATH")) {
		path := filepath.Join(within(dir, folder), name)
		if info, err := os.Stat(path); err == nil && runs(info) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: executable file not found in $PATH", name)
}

func runs(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Mode()&0o111 != 0 }

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func value(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
