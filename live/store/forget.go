package store

import (
	"cmp"
	"database/sql"
	"errors"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// Forget deletes command, directory, environment and checkpoints of ended jobs; IDs, specifications and endings stay.
// If one of the jobs has not ended, it deletes nothing and returns an error.
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

func forget(tx *sql.Tx, id job.ID) error {
	var number int64
	err := tx.QueryRow("SELECT number FROM jobs WHERE id = ? AND ended IS NOT NULL", id).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return errors.New("is unknown or has not ended")
	}
	if err != nil {
		return err
	}
	_, err1 := tx.Exec("UPDATE jobs SET command = x'', env = x'', dir = '' WHERE number = ?", number)
	_, err2 := tx.Exec("DELETE FROM checkpoints WHERE job = ?", number)
	return cmp.Or(err1, err2)
}

const endedBefore = "(SELECT number FROM jobs WHERE ended IS NOT NULL AND ended_at < ?)"

// CountReports returns the number of reports of jobs that ended before the given time.
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

// ForgetReports deletes the reports of jobs that ended before the given time.
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
