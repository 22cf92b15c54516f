package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing is written through a name that somebody else may have put there.
func TestLock_follows_no_link(t *testing.T) {
	const precious = "what somebody else has written\n"
	for name, test := range map[string]struct {
		put  func(dir, victim string) error
		want string
	}{
		"symbolic link": {func(dir, victim string) error { return os.Symlink(victim, filepath.Join(dir, "oxgang.lock")) }, "is a link"},
		"hard link":     {func(dir, victim string) error { return os.Link(victim, filepath.Join(dir, "oxgang.lock")) }, "without other names"},
		"writable":      {func(dir, _ string) error { return os.Chmod(dir, 0o777) }, "others may write to it"},
		"foreign":       {func(dir, _ string) error { return os.Chown(dir, os.Geteuid()+1, -1) }, "use a directory of your own"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "foreign" && os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			dir, victim := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "victim")
			must(t, os.Mkdir(dir, 0o700))
			must(t, os.WriteFile(victim, []byte(precious), 0o600))
			must(t, test.put(dir, victim))
			if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("opened with %v, want an error that says %q", err, test.want)
			}
			if text, err := os.ReadFile(victim); err != nil || string(text) != precious {
				t.Errorf("the file has %q, %v, want it untouched", text, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "oxgang.db")); err == nil {
				t.Error("a database was made")
			}
		})
	}
}
