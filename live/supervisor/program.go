package supervisor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Program returns the file that a worker runs: the first word of its command as seen from its
// directory, looked for in the PATH of its own environment unless it is a path. The error says
// that there is no such file, or that it is not executable.
func Program(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		path := within(dir, name)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s: no such file or directory", name)
		case !runs(info):
			return "", fmt.Errorf("%s: permission denied: it is no executable file", name)
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

// runs reports whether a file may be executed by anybody.
func runs(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Mode()&0o111 != 0 }

// within returns a path as seen from dir.
func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// value returns the value of a variable, "" if it is not there.
func value(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
