package store

import (
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrFull is wrapped by the error of a call that found no room on the disk. Nothing of what
// it should write is there; the store goes on as soon as there is room again.
var ErrFull = errors.New("the disk is full")

// ErrDamaged is wrapped by the error of Open if the database is not what was written, or its
// main file is gone.
var ErrDamaged = errors.New("is damaged")

// explain says whose error it is, and what to do about a full disk or a damaged file.
func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	switch code := code(err); {
	case code == sqlite3.SQLITE_FULL, code == sqlite3.SQLITE_IOERR && full(s.dir), errors.Is(err, syscall.ENOSPC):
		err = fmt.Errorf("%s: %w: %w", s.dir, ErrFull, err)
	case code == sqlite3.SQLITE_CORRUPT, code == sqlite3.SQLITE_NOTADB:
		err = s.damaged(err)
	}
	return fmt.Errorf("store: %w", err)
}

// code returns the primary result code of SQLite in an error; 0: it is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// damaged returns the error of a database that is not what was written, and says what to do.
func (s *Store) damaged(err error) error {
	return fmt.Errorf("%s %w (%w): put a backup in its place, and of its -wal and -shm, or run \"oxgang serve --recover\", which rebuilds the jobs from their folders", s.path, ErrDamaged, err)
}
