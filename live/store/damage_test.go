package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
)

// filled makes a directory with a history of all kinds of rows, and returns what it holds.
// The log is empty: Close moves it into the database.
func filled(t testing.TB, dir string) *State {
	t.Helper()
	s, err := Open(dir)
	must(t, err)
	w := &writer{s: s, epochs: map[job.ID]int{}}
	for range 8 {
		must(t, quiet(w.cycle))
		must(t, s.Checkpoint(w.jobs[0], Checkpoint{Step: w.round, Path: fmt.Sprint(w.round)}, 0))
	}
	st := loaded(t, s)
	must(t, s.Close())
	return st
}

// quiet runs something without what it says on standard output.
func quiet(do func() error) error {
	out := os.Stdout
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	os.Stdout = null
	defer func() { os.Stdout = out }()
	return errors.Join(do(), null.Close())
}

// TestOpen_refuses_what_is_no_database: nothing is ever begun anew over what was there.
func TestOpen_refuses_what_is_no_database(t *testing.T) {
	for name, breaks := range map[string]func(path string) error{
		"empty":     func(path string) error { return os.Truncate(path, 0) },
		"text":      func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("jobs\n", 2000)), 0o600) },
		"cut short": func(path string) error { return os.Truncate(path, 3*4096) },
		"half page": func(path string) error { return os.Truncate(path, 2048) },
		"no tables": func(path string) error {
			must(t, os.Remove(path))
			return alter(path, "PRAGMA user_version = 1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			filled(t, dir)
			path := filepath.Join(dir, "oxgang.db")
			must(t, breaks(path))
			before, err := os.ReadFile(path)
			must(t, err)
			_, err = Open(dir)
			wants(t, err, "store: "+path+" is damaged (")
			wants(t, err, "replace it, its -wal and its -shm by a backup, or run \"oxgang serve --recover\"")
			after, err := os.ReadFile(path)
			must(t, err)
			if string(before) != string(after) {
				t.Error("the refused file was changed")
			}
		})
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "oxgang.db-wal"), []byte("x"), 0o600))
	_, err := Open(dir)
	wants(t, err, "oxgang.db is damaged (the file is missing but its -wal exists)")
}

// alter runs SQL on a file, without a store.
func alter(path, query string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	_, err = db.Exec(query)
	return errors.Join(err, db.Close())
}

// A verdict is what became of a damaged file.
type verdict int

const (
	refused verdict = iota // by Open or Load
	same                   // read as if nothing had happened: the bit was in no use
	within                 // differs in a value: SQLite cannot see that
	unseen                 // SQLite sees it, and nobody said so
)

// judge opens a damaged file and compares it with what it was, and with what SQLite says
// of the file.
func judge(t *testing.T, dir string, want *State, open func(string) (*Store, error)) verdict {
	t.Helper()
	before := complaints(filepath.Join(dir, "oxgang.db"))
	s, err := open(dir)
	if err != nil {
		return refused
	}
	defer s.Close()
	st, err := s.Load()
	switch {
	case err != nil:
		return refused
	case cmp.Equal(st, want) && before == "":
		return same
	case before == "":
		return within
	}
	return unseen
}

// complaints returns what the thorough check of SQLite says of a file.
func complaints(path string) string {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err.Error()
	}
	defer db.Close()
	rows, err := db.Query("PRAGMA integrity_check")
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err.Error()
		}
		if line != "ok" {
			all = append(all, line)
		}
	}
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return strings.Join(all, "; ")
}

// flips opens copies of a file with one bit flipped each, and counts what became of them.
func flips(t *testing.T, n int, open func(string) (*Store, error)) map[verdict]int {
	t.Helper()
	from := t.TempDir()
	want := filled(t, from)
	body, err := os.ReadFile(filepath.Join(from, "oxgang.db"))
	must(t, err)
	random, count := rng.Stream(3, "store"), map[verdict]int{}
	for range n {
		dir, bit := t.TempDir(), random.IntN(8*len(body))
		body[bit/8] ^= 1 << (bit % 8)
		must(t, os.WriteFile(filepath.Join(dir, "oxgang.db"), body, 0o600))
		body[bit/8] ^= 1 << (bit % 8)
		v := judge(t, dir, want, open)
		count[v]++
	}
	t.Logf("%d flipped bits of %d bytes: %d refused, %d in no use, %d inside a value", n, len(body), count[refused], count[same], count[within])
	return count
}

// TestFlippedBits: what SQLite can see of damage, Open or Load refuses.
func TestFlippedBits(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 60
	}
	count := flips(t, n, Open)
	if count[unseen] > 0 || count[refused] == 0 {
		t.Errorf("%d damaged files were opened, %d refused; want none and some", count[unseen], count[refused])
	}
}

// TestFlippedBits_sees_a_store_that_does_not_look: a twin that opens without the check
// reads on where pages are free that the list of free pages does not have.
func TestFlippedBits_sees_a_store_that_does_not_look(t *testing.T) {
	blind := func(dir string) (*Store, error) {
		s := &Store{dir: dir, path: filepath.Join(dir, "oxgang.db")}
		var err error
		if s.lock, err = lock(dir); err != nil {
			return nil, err
		}
		s.reader, err = dial(s.path, "")
		return s, err
	}
	dir := t.TempDir()
	want := filled(t, dir)
	path := filepath.Join(dir, "oxgang.db")
	body, err := os.ReadFile(path)
	must(t, err)
	const freePages = 36 // where their number is, says §1.3 of the file format
	body[freePages+3] ^= 1
	must(t, os.WriteFile(path, body, 0o600))
	if got := judge(t, dir, want, blind); got != unseen {
		t.Errorf("the twin: verdict %d, want %d", got, unseen)
	}
	if got := judge(t, dir, want, Open); got != refused {
		t.Errorf("Open: verdict %d, want %d", got, refused)
	}
}

// TestLoad_refuses_contradictions: what SQLite cannot see, but no store wrote.
func TestLoad_refuses_contradictions(t *testing.T) {
	for update, want := range map[string]string{
		`UPDATE jobs SET spec = replace(spec, '"ID":"j5"', '"ID":"j6"') WHERE id = 'j5'`:     "job j5: spec of job j6",
		`UPDATE jobs SET class = 'y' WHERE id = 'j5'`:                                        `of class "x": is another job`,
		`UPDATE jobs SET status = substr(status, 1, 99) WHERE id = 'j5'`:                     "job j5: status: unfinished JSON: unexpected EOF",
		`UPDATE jobs SET status = replace(status, 'Epoch', 'Apoch') WHERE id = 'j5'`:         `unknown field "Apoch"`,
		`UPDATE jobs SET status = replace(status, '"Phase":2', '"Phase":5') WHERE id = 'j5'`: "phase 5, ended: false",
		`UPDATE jobs SET command = x'61' WHERE id = 'j5'`:                                    "command: no zero byte",
		`UPDATE jobs SET outcome = 'failed' WHERE id = 'j1'`:                                 `outcome "failed" of phase 4`,
		`UPDATE jobs SET ended_at = 'now' WHERE id = 'j1'`:                                   "cannot parse",
		`UPDATE reports SET body = replace(body, '"j5"', '"j6"')`:                            "job j5: report: job j6",
		`UPDATE checkpoints SET body = '{'`:                                                  "checkpoint: unfinished JSON: unexpected EOF",
		`UPDATE state SET time = 'now'`:                                                      "cannot parse",
	} {
		dir := t.TempDir()
		filled(t, dir)
		must(t, alter(filepath.Join(dir, "oxgang.db"), update))
		_, _, err := look(dir)
		wants(t, err, want)
		wants(t, err, "oxgang.db is damaged (")
	}
}
