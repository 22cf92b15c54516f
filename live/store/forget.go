package store

import (
	"cmp"
	"database/sql"
	"errors"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// Forget drops the bulk of what is kept of jobs that have ended: command, directory, environment and
// checkpoints. Their names, specs and endings stay: no other job gets their IDs. It is an error, and
// nothing is dropped, if one of them has not ended. To forget a job twice changes nothing.
func (s *Store) Forget(ids []job.ID) error {
	return s.write(func(tx *sql.Tx) error {
		for _, id := range ids {
			if err := about(id, forget(tx, id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// forget drops the bulk of one job.
func forget(tx *sql.Tx, id job.ID) error {
	var number int64
	err := tx.QueryRow("SELECT number FROM jobs WHERE id = ? AND ended IS NOT NULL", id).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return errors.New("is not known, or has not ended: want one that has")
	}
	if err != nil {
		return err
	}
	_, err1 := tx.Exec("UPDATE jobs SET command = x'', env = x'', dir = '' WHERE number = ?", number)
	_, err2 := tx.Exec("DELETE FROM checkpoints WHERE job = ?", number)
	return cmp.Or(err1, err2)
}

// endedBefore are the numbers of the jobs that ended before a time.
const endedBefore = "(SELECT number FROM jobs WHERE ended IS NOT NULL AND ended_at < ?)"

// CountReports returns how many reports there are of jobs that ended before a time.
func (s *Store) CountReports(before time.Time) (n int, err error) {
	when, err := encodeTime(before)
	if err != nil {
		return 0, s.explain(err)
	}
	err = s.read(func(tx *sql.Tx) error {
		return tx.QueryRow("SELECT count(*) FROM reports WHERE job IN "+endedBefore, when).Scan(&n)
	})
	return n, err
}

// ForgetReports drops what was learned of jobs that ended before a time.
func (s *Store) ForgetReports(before time.Time) error {
	when, err := encodeTime(before)
	if err != nil {
		return s.explain(err)
	}
	return s.write(func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM reports WHERE job IN "+endedBefore, when)
		return err
	})
}
