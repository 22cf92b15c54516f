package store

import (
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrFull reports a full disk. Nothing was written, and the store can be used again once there is space.
var ErrFull = errors.New("the disk is full")

// ErrDamaged reports a damaged or incomplete database.
var ErrDamaged = errors.New("is damaged")

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

func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

func (s *Store) damaged(err error) error {
	return fmt.Errorf("%s %w (%w): replace it, its -wal and its -shm by a backup, or run \"oxgang serve --recover\", which rebuilds the jobs from their directories", s.path, ErrDamaged, err)
}
