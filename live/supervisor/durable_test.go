//go:build linux

package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file is synced before it gets its name, and then the name is.
func TestWriteFile_is_durable(t *testing.T) {
	var synced []string
	before := syncFile
	syncFile = func(f *os.File) error { synced = append(synced, f.Name()); return before(f) }
	defer func() { syncFile = before }()
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	if err := WriteFile(path, 1); err != nil {
		t.Fatal(err)
	}
	if len(synced) != 2 || !strings.HasPrefix(synced[0], path+".") || !slices.Contains(synced, dir) {
		t.Errorf("synced %v, want the file under another name, then its directory", synced)
	}
}
