package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/oxgang/oxgang/model/job"
)

// A Store is the database of a scheduler. It is safe for concurrent use. Writes happen one after another; reads do not
// wait.
type Store struct {
	dir, path string
	lock      *os.File
	identity  string
	writing   sync.Mutex
	writer    *sql.DB // one connection
	reader    *sql.DB
	reports   *sql.Stmt // prepared, as the most frequent statement

	naming  sync.Mutex
	named   map[job.ID]bool
	highest map[string]int64 // by name: the highest number appended, at least 1
}

// Present reports whether a state directory has a database.
func Present(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "oxgang.db"))
	return err == nil
}

// Open opens or creates the database of the state directory dir, and reads all of it to check it. It returns an error
// if a process uses the directory, or if the database is damaged, incomplete or of a newer version. It never resets a
// database.
func Open(dir string) (*Store, error) { return open(dir, migrations) }

func open(dir string, list []string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &Store{dir: dir, path: filepath.Join(dir, "oxgang.db"), named: map[job.ID]bool{}, highest: map[string]int64{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, s.explain(err)
	}
	if s.lock, err = lock(dir); err != nil {
		return nil, s.explain(err)
	}
	if err := s.connect(list); err != nil {
		return nil, errors.Join(s.explain(err), s.Close())
	}
	return s, nil
}

func (s *Store) connect(list []string) error {
	if err := s.present(list); err != nil {
		return err
	}
	if err := syncLog(s.path + "-wal"); err != nil {
		return err
	}
	var err error
	if s.writer, err = dial(s.path, "_txlock=immediate"); err != nil {
		return err
	}
	if s.reader, err = dial(s.path, "_pragma=query_only(1)"); err != nil {
		return err
	}
	s.reader.SetMaxOpenConns(4)
	if err := s.examine(); err != nil {
		return err
	}
	if err := s.keepLog(); err != nil {
		return err
	}
	if err := migrate(s.writer, list); err != nil {
		return err
	}
	if s.reports, err = s.writer.Prepare(insertReport); err != nil {
		return err
	}
	return s.writer.QueryRow("SELECT identity FROM state").Scan(&s.identity)
}

// keepLog enables the write-ahead log, a setting that backups lack.
func (s *Store) keepLog() error {
	mode := ""
	if err := s.writer.QueryRow("PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%s: journal mode %q, want wal: is it on a network?", s.path, mode)
	}
	return nil
}

func dial(path, options string) (*sql.DB, error) {
	at := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&" + options}
	db, err := sql.Open("sqlite", at.String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func (s *Store) present(list []string) error {
	_, err := os.Stat(s.path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(s.path + "-wal"); err == nil {
		return fmt.Errorf("%s %w (the file is missing but its -wal exists): put it back, or run \"oxgang serve --recover\", which rebuilds the jobs from their directories", s.path, ErrDamaged)
	}
	part := s.path + ".new"
	for _, rest := range []string{part, part + "-journal"} {
		if err := os.Remove(rest); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := create(part, list); err != nil {
		return err
	}
	return rename(part, s.path)
}

func create(path string, list []string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := dial(path, "_txlock=immediate")
	if err != nil {
		return err
	}
	return errors.Join(migrate(db, list), db.Close())
}

// SetAside renames the database of a state directory that is not in use, so that Open creates a new one. It returns the
// new path of the old one.
func SetAside(dir string) (string, error) {
	lock, err := lock(dir)
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	defer lock.Close()
	path := filepath.Join(dir, "oxgang.db")
	aside := path + "." + time.Now().UTC().Format("20060102T150405.000Z")
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("store: %w", err)
		}
	}
	return aside, nil
}

var syncFile = (*os.File).Sync

// SimulateSync replaces the function that syncs files, until restore is called, for tests that simulate a disk. They
// must open no other store meanwhile.
func SimulateSync(sync func(*os.File) error) (restore func()) {
	was := syncFile
	syncFile = sync
	return func() { syncFile = was }
}

// syncLog makes the write-ahead log durable: a dead process may have left unsynced transactions, which SQLite
// shows.
func syncLog(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(syncFile(f), f.Close())
}

func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(syncFile(dir), dir.Close())
}

// examine looks for damage that SQLite can detect. It uses integrity_check, because quick_check does not compare
// indexes with tables and reads use indexes.
func (s *Store) examine() error {
	complaint := ""
	if err := s.writer.QueryRow("PRAGMA integrity_check(1)").Scan(&complaint); err != nil {
		return err
	}
	if complaint != "ok" {
		return s.damaged(errors.New(complaint))
	}
	tables := 0
	if err := s.writer.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		return s.damaged(errors.New("it is empty"))
	}
	return nil
}

// Close closes the database and releases the directory.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	var errs []error
	if s.reports != nil {
		errs = append(errs, s.reports.Close())
	}
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	// Unlock explicitly: a child that is being started shares the file until it calls exec.
	return errors.Join(append(errs, release(s.lock), s.lock.Close())...)
}

// Identity returns the random name of the state directory.
func (s *Store) Identity() string { return s.identity }

func (s *Store) write(do func(tx *sql.Tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.explain(transaction(s.writer, do))
}

func (s *Store) read(do func(tx *sql.Tx) error) error {
	return s.explain(transaction(s.reader, do))
}

func transaction(db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing is left of what failed; nothing to do after Commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func each(tx *sql.Tx, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
