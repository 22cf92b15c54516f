package store

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oxgang/oxgang/model/job"
)

// Backup writes a consistent copy of the database in the state directory dir to a new file at path, durably.
func Backup(dir, path string) error {
	s := &Store{dir: dir, path: filepath.Join(dir, "oxgang.db")}
	if !Present(dir) {
		return s.explain(fmt.Errorf("%s: no scheduler has used this directory", dir))
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return s.explain(named("backup", err))
	}
	if err := f.Close(); err != nil {
		return s.explain(named("backup", err))
	}
	db, err := dial(s.path, "")
	if err != nil {
		return s.explain(named("backup", err))
	}
	_, err = db.Exec("VACUUM INTO ?", path)
	return s.explain(named("backup", errors.Join(err, db.Close(), syncLog(path))))
}

// Restore makes a backup file the database of dir, a state directory without one, with a new identity, so that
// processes of the original's jobs are not touched. It drops the checkpoints for which exists returns false.
func Restore(dir, backup string, exists func(id job.ID, path string) bool) error {
	s := &Store{dir: dir, path: filepath.Join(dir, "oxgang.db")}
	if Present(dir) {
		return s.explain(fmt.Errorf("%s: it has a database already; restore into an empty directory", dir))
	}
	db, err := dial(backup, "_txlock=immediate")
	if err != nil {
		return s.explain(err)
	}
	err = errors.Join(transaction(db, func(tx *sql.Tx) error { return renew(tx, exists) }), db.Close())
	if err == nil {
		err = rename(backup, s.path)
	}
	return s.explain(named("restore", err))
}

func renew(tx *sql.Tx, there func(id job.ID, path string) bool) error {
	if _, err := tx.Exec("UPDATE state SET identity = ?", rand.Text()); err != nil {
		return err
	}
	var gone []int64
	err := each(tx, func(rows *sql.Rows) error {
		var number int64
		var id job.ID
		var path string
		err := rows.Scan(&number, &id, &path)
		if err == nil && !there(id, path) {
			gone = append(gone, number)
		}
		return err
	}, "SELECT checkpoints.id, jobs.id, path FROM checkpoints JOIN jobs ON job = number")
	for _, number := range gone {
		if _, wrong := tx.Exec("DELETE FROM checkpoints WHERE id = ?", number); wrong != nil {
			return wrong
		}
	}
	return err
}
