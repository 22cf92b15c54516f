package store

import (
	"errors"
	"fmt"
	"os"
)

// Backup writes a copy of the database as of one moment to a new file, durably, while
// others read and write. The file is there when it is whole; it is a database that can take
// the place of a lost one.
func (s *Store) Backup(path string) error {
	part := path + ".part"
	err := s.copyTo(path, part)
	if err == nil {
		err = rename(part, path)
	}
	return s.explain(named("backup", err))
}

// copyTo writes the copy beside where it shall be.
func (s *Store) copyTo(path, part string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already, want a new file", path)
	}
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(vacuum(s.path, part), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// vacuum copies a database into an empty file, over a connection of its own: writers go on.
func vacuum(from, to string) error {
	db, err := dial(from, "")
	if err != nil {
		return err
	}
	_, err = db.Exec("VACUUM INTO ?", to)
	return errors.Join(err, db.Close())
}
