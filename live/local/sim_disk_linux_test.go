package local

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// shm returns a directory on tmpfs.
func shm(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "simdisk") //nolint:usetesting // tmpfs never gives an inode's number again
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func openDB(t *testing.T, dir, synchronous string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "a.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous("+synchronous+")")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// rows writes rows 0 to n-1, each in a transaction, loses power and returns how many are there.
func rows(t *testing.T, synchronous string, n int, choose func(int) int) int {
	t.Helper()
	d := Mount(shm(t))
	defer d.Unmount()
	db := openDB(t, d.root, "FULL")
	if _, err := db.Exec("CREATE TABLE a (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(d.root)
	if err == nil {
		err = errors.Join(d.sync(dir), dir.Close(), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	db = openDB(t, d.root, synchronous)
	for i := range n {
		if _, err := db.Exec("INSERT INTO a VALUES (?)", i); err != nil {
			t.Fatal(err)
		}
	}
	d.Crash()
	_ = db.Close() // it cannot move the log into the database any more
	if err := d.LosePower(choose); err != nil {
		t.Fatal(err)
	}
	d.Restart()
	db = openDB(t, d.root, "FULL")
	defer db.Close()
	var found int
	if err := db.QueryRow("SELECT count(*) FROM a").Scan(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

// What SQLite synced is there, whatever is chosen; what it did not sync is there or not.
func TestLosePower_of_a_database(t *testing.T) {
	nothing := func(int) int { return 0 }
	everything := func(n int) int { return n - 1 }
	if n := rows(t, "FULL", 20, nothing); n != 20 {
		t.Errorf("synced: %d rows, want 20", n)
	}
	if n := rows(t, "NORMAL", 20, nothing); n != 0 {
		t.Errorf("not synced: %d rows, want none", n)
	}
	for seed := range 20 {
		i := seed
		some := func(n int) int { i = i*1103515245 + 12345; return (i >> 8 & 0xffff) % n }
		if n := rows(t, "FULL", 20, some); n != 20 {
			t.Errorf("seed %d: %d rows, want 20", seed, n)
		}
		if n := rows(t, "NORMAL", 20, some); n > 20 {
			t.Errorf("seed %d: %d rows, want at most 20", seed, n)
		}
	}
	if n := rows(t, "FULL", 20, everything); n != 20 {
		t.Errorf("everything: %d rows, want 20", n)
	}
}

// A file has its content and its name only if both were synced.
func TestLosePower_of_a_file(t *testing.T) {
	for _, tc := range []struct {
		data, name bool
		want       string
	}{{true, true, "new"}, {true, false, "old"}, {false, true, ""}} {
		t.Run(fmt.Sprint(tc), func(t *testing.T) {
			d := Mount(shm(t))
			defer d.Unmount()
			path := filepath.Join(d.root, "a")
			save(t, d, path, "old", true, true)
			save(t, d, path, "new", tc.data, tc.name)
			if err := d.LosePower(func(n int) int { return min(1, n-1) * b(!tc.name) }); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != tc.want {
				t.Errorf("%q (%v), want %q", text, err, tc.want)
			}
		})
	}
}

func b(is bool) int {
	if is {
		return 1
	}
	return 0
}

// save replaces a file.
func save(t *testing.T, d *Disk, path, text string, data, name bool) {
	t.Helper()
	f, err := os.Create(path + ".new")
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil && data {
		err = d.sync(f)
	}
	if err == nil {
		err = errors.Join(f.Close(), os.Rename(path+".new", path))
	}
	if dir, bad := os.Open(d.root); err == nil && name {
		err = errors.Join(bad, d.sync(dir), dir.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A full disk takes nothing, and a crash lets nothing be written until the next start.
func TestDisk_is_full_and_crashes(t *testing.T) {
	d := Mount(shm(t))
	defer d.Unmount()
	db := openDB(t, d.root, "FULL")
	defer db.Close()
	exec := func(text string) error { _, err := db.Exec(text); return err }
	if err := exec("CREATE TABLE a (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	d.SetFull(true)
	if err := exec("INSERT INTO a VALUES (1)"); err == nil {
		t.Error("a full disk took a row")
	}
	f, err := os.Create(filepath.Join(d.root, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Sync(f); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("sync on a full disk: %v", err)
	}
	d.SetFull(false)
	if err := exec("INSERT INTO a VALUES (2)"); err != nil {
		t.Error(err)
	}
	d.CrashIn(1)
	if err := exec("INSERT INTO a VALUES (3)"); err == nil || !d.Dead() {
		t.Error("a row was written after the crash")
	}
	if err := Sync(f); !errors.Is(err, ErrDead) {
		t.Errorf("sync after the crash: %v", err)
	}
	d.Restart()
	if err := exec("INSERT INTO a VALUES (4)"); err != nil {
		t.Error(err)
	}
	if d.Writes() == 0 {
		t.Error("no writes were counted")
	}
}
