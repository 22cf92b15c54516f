package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A folder of another user, or in which others may write, is not used for what jobs trust.
func TestOwn(t *testing.T) {
	dir := t.TempDir()
	made := filepath.Join(dir, "a", "b")
	if err := errors.Join(own(made, 0o755), own(made, 0o755)); err != nil {
		t.Errorf("a folder of its own: %v", err)
	}
	if err := errors.Join(os.Chmod(made, 0o775), own(made, 0o755)); err == nil {
		t.Error("a folder in which a group may write: no error")
	}
	if os.Getuid() != 0 {
		t.Skip("not root, who alone can make files of others")
	}
	if err := os.Chmod(made, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(made, 65534, -1); err != nil {
		t.Fatal(err)
	}
	if err := own(made, 0o755); err == nil {
		t.Error("a folder of another user: no error")
	}
}
