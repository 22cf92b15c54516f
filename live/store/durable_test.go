package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Every transaction is synced, and so is the name of a new database.
func TestDurable(t *testing.T) {
	var synced []string
	before := syncFile
	syncFile = func(f *os.File) error { synced = append(synced, f.Name()); return before(f) }
	defer func() { syncFile = before }()
	dir := filepath.Join(t.TempDir(), "state")
	s, err := Open(dir)
	must(t, err)
	defer s.Close()
	if !slices.Contains(synced, dir) {
		t.Errorf("synced %v, want the directory, with the name of the database", synced)
	}
	const full = 2
	level := 0
	must(t, s.writer.QueryRow("PRAGMA synchronous").Scan(&level))
	if level != full {
		t.Errorf("synchronous is %d, want %d, FULL", level, full)
	}
}
