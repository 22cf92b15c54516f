//go:build linux

package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// One reading without an orphan proves nothing: a process has no environment while it changes its program.
func TestSweep_reads_twice(t *testing.T) {
	const pid = 1 << 30 // no process
	readings, killed := 0, 0
	restore := Simulate(&System{
		Tagged: func(string) map[int]string {
			if readings++; readings == 2 {
				return map[int]string{pid: "a/j/1"}
			}
			return nil
		},
		Signal: func(p int, s unix.Signal) error {
			if p == pid && s == unix.SIGKILL {
				killed++
			}
			return nil
		},
		Sync: (*os.File).Sync,
	})
	defer restore()
	if err := Sweep(t.TempDir(), "a"); err != nil || killed != 1 || readings != 4 {
		t.Errorf("%v: killed %d in %d readings, want the orphan of the second of four", err, killed, readings)
	}
}

// A link in the place of a record is not followed: a job could show the scheduler a file of another.
func TestReadFile_follows_no_link(t *testing.T) {
	dir := t.TempDir()
	secret, link := filepath.Join(dir, "secret"), filepath.Join(dir, "state.json")
	if err := os.WriteFile(secret, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	if text, err := readFile(link); err == nil {
		t.Errorf("read %q through a link", text)
	}
}
