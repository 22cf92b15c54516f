package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// Commit stores a plan, completely or not at all. It returns an error if the round is not above the last one, if two
// jobs hold the same slot, or if a changed job is unknown, has ended or has a later generation.
func (s *Store) Commit(p *Plan) error {
	return s.write(func(tx *sql.Tx) error {
		return named(fmt.Sprintf("plan of round %d", p.Round), commit(tx, p))
	})
}

func commit(tx *sql.Tx, p *Plan) error {
	if err := advance(tx, p.Round, p.Time); err != nil {
		return err
	}
	numbers := make(map[job.ID]int64, len(p.Changes))
	for i := range p.Changes {
		c := &p.Changes[i]
		if _, twice := numbers[c.Job]; twice {
			return about(c.Job, errors.New("changed twice in one plan"))
		}
		number, err := change(tx, c)
		if err != nil {
			return err
		}
		numbers[c.Job] = number
	}
	for i := range p.Changes { // after all changes, since slots pass from job to job
		c := &p.Changes[i]
		if err := hold(tx, numbers[c.Job], c.Held); err != nil {
			return about(c.Job, err)
		}
	}
	return nil
}

func advance(tx *sql.Tx, round int64, at time.Time) error {
	var last int64
	if err := tx.QueryRow("SELECT round FROM state").Scan(&last); err != nil {
		return err
	}
	if round <= last {
		return fmt.Errorf("round %d is committed already, want a later one", last)
	}
	when, err := encodeTime(at)
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE state SET round = ?, time = ?, reports = (SELECT coalesce(max(id), 0) FROM reports)", round, when)
	return err
}

func change(tx *sql.Tx, c *Change) (int64, error) {
	number, err := active(tx, c.Job)
	if err != nil {
		return 0, err
	}
	if err := later(tx, number, c); err != nil {
		return 0, about(c.Job, err)
	}
	status, err1 := encodeStatus(c.Status)
	batch, err2 := encode(c.Batch)
	if err := cmp.Or(err1, err2); err != nil {
		return 0, about(c.Job, err)
	}
	_, err1 = tx.Exec("UPDATE jobs SET generation = ?, status = ?, batch = ?, failures = ? WHERE number = ?", c.Generation, status, batch, c.Failures, number)
	_, err2 = tx.Exec("DELETE FROM slots WHERE job = ?", number)
	return number, about(c.Job, cmp.Or(err1, err2))
}

func later(tx *sql.Tx, number int64, c *Change) error {
	var last int
	if err := tx.QueryRow("SELECT generation FROM jobs WHERE number = ?", number).Scan(&last); err != nil {
		return err
	}
	switch {
	case c.Generation < last:
		return fmt.Errorf("generation %d, want at least %d", c.Generation, last)
	case c.Status.Phase.Terminal():
		return fmt.Errorf("phase %s: jobs end by End", c.Status.Phase)
	}
	return nil
}

func hold(tx *sql.Tx, number int64, slots []int) error {
	for rank, slot := range slots {
		var other job.ID
		err := tx.QueryRow("SELECT id FROM jobs JOIN slots ON job = number WHERE slot = ?", slot).Scan(&other)
		switch {
		case slot < 0:
			return fmt.Errorf("slot %d, want at least 0", slot)
		case err == nil:
			return fmt.Errorf("slot %d is held by job %s", slot, other)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if _, err := tx.Exec("INSERT INTO slots (slot, job, rank) VALUES (?, ?, ?)", slot, number, rank); err != nil {
			return err
		}
	}
	return nil
}
