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

// What a scheduler wrote and did not sync, because it died, is made durable before the next one sees
// it: what that one does because of it would otherwise outlive it.
func TestOpen_syncs_the_log(t *testing.T) {
	dir, dead := t.TempDir(), filepath.Join(t.TempDir(), "state")
	accepted(t, opened(t, dir), "a", "")
	must(t, os.Mkdir(dead, 0o700))
	for _, name := range []string{"oxgang.db", "oxgang.db-wal"} {
		copyFile(t, filepath.Join(dir, name), filepath.Join(dead, name))
	}
	var synced []string
	before := syncFile
	syncFile = func(f *os.File) error { synced = append(synced, filepath.Base(f.Name())); return before(f) }
	defer func() { syncFile = before }()
	opened(t, dead)
	if !slices.Contains(synced, "oxgang.db-wal") {
		t.Errorf("synced %v, want the log", synced)
	}
}
